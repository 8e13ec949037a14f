import { elementsOf } from '../../html/html-tree.ts'
import { chartLines } from './word-chart.ts'
import { drawn, type Place, type Story, text } from './word-story.ts'
import { drawnLines, isOn, type XmlElement } from './word-xml.ts'

/** Readers of the words of drawings, except for boxes, which are text like any other. */
export const drawingReaders = new Map<string, (node: XmlElement, place: Place) => XmlElement[]>([
  ['a:p', (node, { story }) => drawn(drawnLines(node), story)],
  ['c:chart', ({ attributes }, { story }) => drawn(partLines(attributes['r:id'], story, chartLines), story)],
  ['cx:chart', ({ attributes }, { story }) => drawn(partLines(attributes['r:id'], story, chartLines), story)],
  [
    'dgm:relIds',
    ({ attributes }, { story }) => drawn(partLines(attributes['r:dm'], story, drawnLines), story),
  ],
  ['wp:docPr', describe],
  ['wps:cNvPr', describe],
  ['pic:cNvPr', describe],
  ['v:imagedata', ({ attributes }, { story }) => alternatives([attributes['o:title']], story)],
  ['v:textpath', ({ attributes }, { story }) => drawn([attributes.string ?? ''], story)],
])

function partLines(id = '', story: Story, read: (root: XmlElement) => string[]): string[] {
  const { parts, drawings } = story
  const target = story.relations.get(id)?.target ?? id
  // If the data of a diagram are missing, its drawing has the same words.
  const drawing = target.replace(/data(\d*\.xml)$/, 'drawing$1')
  const name = parts.has(target) || !parts.has(drawing) ? target : drawing
  const root = drawings.has(name) ? undefined : parts.xml(name)
  if (root !== undefined) drawings.set(name, read(root))
  return drawings.get(name) ?? []
}

function describe(node: XmlElement, { story }: Place): XmlElement[] {
  const { descr, title } = node.attributes
  const marks = elementsOf(node).filter(({ name }) => name === 'adec:decorative')
  return marks.some(({ attributes }) => isOn(attributes.val)) ? [] : alternatives([descr, title], story)
}

/** Returns alternative texts, in the line of the drawing; repeated ones within it are read once. */
export function alternatives(texts: readonly (string | undefined)[], story: Story): XmlElement[] {
  return texts.flatMap((alternative = '') => {
    if (!alternative.trim() || story.alternatives.has(alternative)) return []
    story.alternatives.add(alternative)
    return text(` ${alternative} `, story)
  })
}

/** Returns true if the author of a drawing has hidden it. */
export function isInvisible({ attributes, children }: XmlElement): boolean {
  if (/visibility:\s*hidden/.test(attributes.style ?? '')) return true
  return children.some(
    node =>
      typeof node !== 'string' && /:(?:docPr|cNvPr)$/.test(node.name) && isOn(node.attributes.hidden ?? '0'),
  )
}
