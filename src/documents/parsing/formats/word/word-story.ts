import type { Count } from './word-numbering.ts'
import type { Relation, WordPackage } from './word-package.ts'
import type { WordStyle, WordStyles } from './word-styles.ts'
import { element, type XmlElement } from './word-xml.ts'

/** The state of reading a document. */
export interface Reading {
  parts: WordPackage
  warn: (text: string) => void
  styles: WordStyles
  /** Ids of the notes and comments that exist, by the name of their references. */
  notes: Map<string, ReadonlySet<string>>
  /** Addresses of links by their ids in the text. */
  links: Map<string, string>
  /** Names of embedded documents by their paragraphs. */
  chunks: Map<string, string>
  /** Words of charts and diagrams, by their parts. */
  drawings: Map<string, string[]>
}

/** The state of reading one part. */
export interface Story extends Reading {
  relations: ReadonlyMap<string, Relation>
  count: Count
  /** For each open field, true while its code is read; undefined if fields have no end. */
  fields: boolean[] | undefined
  /** Number of fields whose code is being read. */
  codes: number
  /** Elements of the next paragraph, because the end of their own was deleted. */
  carried: XmlElement[]
  /** Alternative texts of one drawing, whose parts can repeat them. */
  alternatives: Set<string>
  /** Number of texts read. */
  texts: number
}

/** The place of a node. */
export interface Place {
  story: Story
  paragraph: WordStyle
  /** True in a hidden run. */
  isHidden: boolean
}

export function text(value: string, story: Story): XmlElement[] {
  // The mark of a possible hyphenation is no part of the word.
  const shown = value.replaceAll('\u00ad', '')
  if (shown === '') return []
  story.texts += 1
  return [element('w:t', [shown])]
}

/** Returns paragraphs to put after the one with their anchor. */
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
