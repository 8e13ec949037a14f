import type { Row } from './rows.ts'
import { median, stepTo, wideStep } from './rows.ts'

/** A part of the page's width where nothing stands; it ends at infinity at its edges. */
interface Gap {
  start: number
  end: number
}

/** Rows below one another, and the gaps that all of them have. */
export interface Band {
  rows: Row[]
  gaps: Gap[]
}

/** In parts of the size of the font. */
const narrowestGap = 0.8
/** The most columns of a table that are still recognised. */
const maxGaps = 50
/** Steps down, in usual ones, that part what is above from what is below, over all columns. */
const greatStep = 2.2
const stepToMargin = 1.7
/** Size of a heading, in usual ones. */
const headingSize = 1.15

/** Cuts where a row stands in the gutters of those above it, and where blank space goes through all columns. */
export function bandsOf(rows: readonly Row[]): Band[] {
  const size = median(rows.map(row => row.size))
  const usualStep = Math.max(size, median(rows.slice(1).map((_, index) => stepTo(rows, index + 1))))
  const bands: Band[] = []
  for (const [index, row] of rows.entries()) {
    const gaps = gapsOf(row, size * narrowestGap)
    const band = bands.at(-1) ?? { rows: [], gaps: [] }
    const common = commonGaps(band.gaps, gaps, size * narrowestGap)
    const step = stepTo(rows, index) / usualStep
    const isAtMargin = index === 1 || index === rows.length - 1
    const isHeading = row.size > size * headingSize
    const isBeyond = step > greatStep || (isAtMargin && step > stepToMargin) || (isHeading && step > wideStep)
    if (index === 0 || isBeyond || isOther(band.gaps, gaps, common, step)) bands.push({ rows: [row], gaps })
    else {
      band.rows.push(row)
      band.gaps = common
    }
  }
  return bands
}

/** Gaps with text on both sides. */
export function guttersOf(gaps: readonly Gap[]): Gap[] {
  return gaps.filter(({ start, end }) => Number.isFinite(start) && Number.isFinite(end))
}

/** Below a wide step, a table may have a gutter where the columns of a text have theirs. */
function isOther(
  before: readonly Gap[],
  here: readonly Gap[],
  common: readonly Gap[],
  step: number,
): boolean {
  const [above = 0, own = 0, shared = 0] = [before, here, common].map(gaps => guttersOf(gaps).length)
  if (shared === 0) return above !== 0 || own !== 0
  // A line without gaps, such as a caption, that reaches over a gutter of the rows next to it is none of theirs.
  if ((above === 0 && shared < own) || (own === 0 && shared < above)) return true
  return step > wideStep && own !== 0 && above !== 0 && own !== above
}

function gapsOf({ runs }: Row, narrowest: number): Gap[] {
  const gaps: Gap[] = []
  let end = -Infinity
  for (const run of runs) {
    if (run.start - end >= narrowest) gaps.push({ start: end, end: run.start })
    end = Math.max(end, run.end)
  }
  return few([...gaps, { start: end, end: Infinity }])
}

function commonGaps(some: readonly Gap[], others: readonly Gap[], narrowest: number): Gap[] {
  const common = some.flatMap(one =>
    others.map(({ start, end }) => ({ start: Math.max(one.start, start), end: Math.min(one.end, end) })),
  )
  return few(common.filter(({ start, end }) => end - start >= narrowest))
}

/** Where there are very many, none of them is a gutter. */
function few(gaps: Gap[]): Gap[] {
  return gaps.length > maxGaps ? [] : gaps
}
