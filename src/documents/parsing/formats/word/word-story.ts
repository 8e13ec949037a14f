import type { Count } from './word-numbering.ts'
import type { Relation, WordPackage } from './word-package.ts'
import type { WordStyle, WordStyles } from './word-styles.ts'
import type { XmlElement } from './word-xml.ts'
import { element } from './word-xml.ts'

/** A document, while its parts are read. */
export interface Reading {
  parts: WordPackage
  warn: (text: string) => void
  styles: WordStyles
  /** Ids of the notes and comments that exist, by the name of their references. */
  notes: Map<string, ReadonlySet<string>>
  /** Addresses of links, by the ids that the text names them with. */
  links: Map<string, string>
  /** Names of embedded documents, by the paragraphs that stand for them. */
  chunks: Map<string, string>
  /** Words of charts and diagrams, by their parts. */
  drawings: Map<string, string[]>
}

/** One part, while it is read. */
export interface Story extends Reading {
  relations: ReadonlyMap<string, Relation>
  count: Count
  /** Of the fields that are open, whether their code is being read; undefined where fields have no end. */
  fields: boolean[] | undefined
  /** How many of them are. */
  codes: number
  /** Belongs to the next paragraph, since the end of its own was deleted. */
  carried: XmlElement[]
  /** Alternative texts of one drawing, whose parts may repeat them. */
  alternatives: Set<string>
  /** How many texts were read. */
  texts: number
}

/** Where a node stands. */
export interface Place {
  story: Story
  paragraph: WordStyle
  /** In a run that is hidden. */
  isHidden: boolean
}

export function text(value: string, story: Story): XmlElement[] {
  // Where a word may be divided is no part of it.
  const shown = value.replaceAll('\u00ad', '')
  if (shown === '') return []
  story.texts += 1
  return [element('w:t', [shown])]
}

/** Paragraphs after the one that they are anchored in. */
export function drawn(lines: readonly string[], story: Story): XmlElement[] {
  return box(lines.flatMap(line => text(line, story)).map(paragraphOf))
}

export function box(blocks: XmlElement[]): XmlElement[] {
  return blocks.length === 0 ? [] : [element('w:pict', blocks)]
}

export function paragraphOf(inline: XmlElement): XmlElement {
  const isRun = inline.name === 'w:r' || inline.name === 'w:hyperlink'
  return element('w:p', [isRun ? inline : element('w:r', [inline])])
}
