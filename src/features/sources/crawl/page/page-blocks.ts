/**
 * Splits a page's text into blocks, by which pages of one site are compared. Blank lines separate blocks; a
 * fence of code is one block, and so is each list item that is a link: menus differ from page to page.
 */
import { hash } from 'node:crypto'
import { fenceAfter } from '#documents/parsing/markdown-pieces.ts'
import { linesOf } from '#documents/parsing/parsed-document.ts'

/** Max compared blocks of a page; the last one contains the rest. */
const maxBlocks = 2_000
const linkItem = /^\s{0,80}(?:-|\d{1,9}\.)[ ]{1,4}\[[^\]]{0,300}\]\(\S{0,2000}\)\s*$/

/** Returns all of the text in blocks: joined, they are the text again. */
export function blocksOf(text: string): string[] {
  const blocks: string[] = []
  let [isBlankBefore, isItemBefore] = [true, false]
  let fence: string | undefined
  for (const line of linesOf(text)) {
    const isOutside = fence === undefined
    const [isBlank, isIndented, isItem] = [
      !/\S/.test(line),
      /^\s/.test(line),
      isOutside && linkItem.test(line),
    ]
    const begins = isOutside && !isBlank && (isItem || ((isBlankBefore || isItemBefore) && !isIndented))
    if (blocks.length === 0 || (begins && blocks.length < maxBlocks)) blocks.push(line)
    else blocks[blocks.length - 1] += line
    fence = fenceAfter(line.trimEnd(), fence)
    ;[isBlankBefore, isItemBefore] = [isBlank, isItem]
  }
  return blocks
}

/** The characters of a mark: its kind, and 48 bits of a hash. */
const markLength = 9
/** The kind of a block: heading, announcing line, or other. */
type Kind = '#' | ':' | '-'
const announcing = /^(?:\*\*[^*\n]{1,100}\*\*:?|[^\n]{1,100}:(?:\*\*)?)$/

/** Returns the marks of these blocks: equal blocks have equal marks. */
export function marksOf(blocks: readonly string[]): string {
  return blocks
    .map(block => {
      const text = block.trim()
      const kind: Kind = /^#{1,6} /.test(text) ? '#' : announcing.test(text) ? ':' : '-'
      return kind + hash('sha256', text, 'base64').slice(0, markLength - 1)
    })
    .join('')
}

export function eachMark(marks: string): string[] {
  return Array.from({ length: marks.length / markLength }, (_, at) =>
    marks.slice(at * markLength, (at + 1) * markLength),
  )
}

/** Returns a digit for each mark: 1 for a repeated block, unless it is the heading of one that stays. */
export function leftOutOf(marks: readonly string[], isRepeated: (mark: string) => boolean): string {
  let digits = ''
  let isContentNext = false
  for (const mark of marks.toReversed()) {
    const isHeading = !mark.startsWith('-')
    const stays: boolean = !isRepeated(mark) || (isHeading && isContentNext)
    isContentNext = stays && !mark.startsWith('#')
    digits = (stays ? '0' : '1') + digits
  }
  return digits
}

export function withoutLeftOut(text: string, leftOut: string): string {
  if (!leftOut.includes('1')) return text
  // The last item of a menu includes the blank line between the menu and the next block.
  const blankOf = (block: string) => (/\n\s*$/.test(block) ? '\n' : '')
  return blocksOf(text)
    .map((block, at) => (leftOut[at] === '1' ? blankOf(block) : block))
    .join('')
    .trim()
}

export interface ComparedPage {
  document: string
  marks: string
  leftOut: string
}

/** Min pages with a block of the whole site, in addition to more than half of all. */
const manyPages = 3

/** Number of pages per count, to bound memory: a majority of all is a majority in some batch. */
const pagesTogether = 200

function repeatedAmong(pages: readonly ComparedPage[]): Set<string> {
  const candidates = new Set<string>()
  for (let at = 0; at < pages.length; at += pagesTogether) {
    const some = pages.slice(at, at + pagesTogether)
    for (const [mark, count] of countsOf(some)) if (2 * count > some.length) candidates.add(mark)
  }
  const counts = countsOf(pages, mark => candidates.has(mark))
  const isRepeated = (count: number) => count >= manyPages && 2 * count > pages.length
  return new Set([...counts].filter(([, count]) => isRepeated(count)).map(([mark]) => mark))
}

/** Returns the number of pages with each block. */
function countsOf(
  pages: readonly Pick<ComparedPage, 'marks'>[],
  isCounted: (mark: string) => boolean = () => true,
): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { marks } of pages)
    for (const mark of new Set(eachMark(marks)))
      if (isCounted(mark)) counts.set(mark, (counts.get(mark) ?? 0) + 1)
  return counts
}

/** Returns pages whose passages differ from a comparison of all pages, with their blocks to leave out. */
export function changesByComparison(pages: readonly ComparedPage[]): Omit<ComparedPage, 'marks'>[] {
  const repeated = repeatedAmong(pages)
  const met = new Set<string>()
  return pages.flatMap(({ document, marks, leftOut: before }) => {
    const all = eachMark(marks)
    const leftOut = leftOutOf(all, mark => met.has(mark))
    for (const mark of all) if (repeated.has(mark)) met.add(mark)
    return leftOut === before ? [] : [{ document, leftOut }]
  })
}

export function isPartOf(marks: string, others: string): boolean {
  const there = new Set(eachMark(others))
  return eachMark(marks).every(mark => there.has(mark))
}

/** Finds blocks of more than half of the pages so far; the comparison of all corrects it. */
export interface Repeats {
  note(marks: string): void
  /** Returns the marks of these blocks, joined. */
  soFar(): string
}

/** Max blocks in memory; beyond it, those of fewer pages are forgotten. */
const maxRemembered = 5_000

export function createRepeats(): Repeats {
  const counts = new Map<string, number>()
  let pages = 0
  return {
    note(marks) {
      pages += 1
      for (const mark of new Set(eachMark(marks))) counts.set(mark, (counts.get(mark) ?? 0) + 1)
      if (counts.size <= maxRemembered) return
      for (const [mark, count] of counts) if (2 * count <= pages) counts.delete(mark)
    },
    soFar: () => [...counts].map(([mark, count]) => (2 * count > pages ? mark : '')).join(''),
  }
}
