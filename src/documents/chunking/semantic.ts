import type { ParsedDocument, Span } from '../parsing/parsed-document.ts'
import { linesOf, paragraphsOf, piecesOf, type Range, sentencesOf, trimmed } from './boundaries.ts'
import type { ChunkingOptions } from './chunking-options.ts'

/** The smallest statement that is kept whole. */
interface Unit extends Range {
  span: Span
}

interface Open extends Range {
  /** The beginnings of its units. */
  starts: number[]
  span: Span
}

/** A chunk below this share of the size includes the next section instead of ending with its own. */
const tinyShare = 1 / 4

/** Ways to cut, from the best to the last resort. */
const cuts = [belowHeadings(paragraphsOf), belowHeadings(sentencesOf), belowHeadings(linesOf), piecesOf]

/**
 * Packs paragraphs, or parts of too long ones, up to the size. A chunk never crosses a page, and a section
 * only while it is tiny; within a section it begins with the last whole units or sentences of the one before.
 */
export function* semanticRanges(document: ParsedDocument, options: ChunkingOptions): Generator<Range> {
  const { text } = document
  const { chunk_size } = options
  let open: Open | undefined
  for (const unit of unitsOf(document, chunk_size)) {
    if (open !== undefined && takes(open, unit, chunk_size)) {
      open.starts.push(unit.start)
      open.end = unit.end
      open.span = unit.span
      continue
    }
    if (open !== undefined) yield open
    const start = open === undefined ? unit.start : overlapStart(text, open, unit, options)
    open = { start, end: unit.end, starts: [unit.start], span: unit.span }
  }
  if (open !== undefined) yield open
}

function* unitsOf({ text, spans }: ParsedDocument, limit: number): Generator<Unit> {
  for (const span of spans) {
    for (const range of splitUp(text, span, limit)) yield { ...range, span }
  }
}

function* splitUp(text: string, range: Range, limit: number, level = 0): Generator<Range> {
  const cut = cuts[level]
  if (cut === undefined) return yield range
  for (const part of cut(text, range, limit)) {
    const unit = trimmed(text, part)
    if (unit === undefined) continue
    if (unit.end - unit.start <= limit) yield unit
    else yield* splitUp(text, unit, limit, level + 1)
  }
}

type Cut = (text: string, range: Range, limit: number) => Iterable<Range>

/**
 * Keeps headings in the part that follows them: a heading found alone is useless. Of headings that fill half
 * the size, such as comments of a program, only the last ones belong to the part that follows.
 */
function belowHeadings(cut: Cut): Cut {
  return function* (text, range, limit) {
    let above: Range[] = []
    for (const part of cut(text, range, limit)) {
      const { start } = above[0] ?? part
      const isHeading = part.end - part.start < limit / 2 && isHeadings(text, part)
      if (isHeading && part.end - start < limit / 2) {
        above.push(part)
        continue
      }
      if (isHeading) yield* above
      else yield { start, end: part.end }
      above = isHeading ? [part] : []
    }
    yield* above
  }
}

const headings = /^(?:#{1,6} [^\n]*(?:\n\s*|$))*$/

/** Returns true for headings, also with blank lines between them. */
function isHeadings(text: string, { start, end }: Range): boolean {
  return headings.test(text.slice(start, end).trim())
}

function takes(open: Open, unit: Unit, limit: number): boolean {
  if (open.span.page !== unit.span.page || unit.end - open.start > limit) return false
  return open.span.section === unit.span.section || open.end - open.start < limit * tinyShare
}

/** Returns the beginning of the chunk after `open`, so that its first new unit also has its predecessor. */
function overlapStart(
  text: string,
  open: Open,
  unit: Unit,
  { chunk_size, overlap }: ChunkingOptions,
): number {
  if (open.span.page !== unit.span.page || open.span.section !== unit.span.section) return unit.start
  const earliest = Math.max(open.end - overlap, open.start + 1, unit.end - chunk_size)
  const whole = open.starts.find(start => start >= earliest)
  if (whole !== undefined) return whole
  const last = { start: open.starts.at(-1) ?? open.start, end: open.end }
  return sentencesOf(text, last).find(({ start }) => start >= earliest)?.start ?? unit.start
}
