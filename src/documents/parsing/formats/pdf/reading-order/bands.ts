import { median, type Row, stepTo, wideStep } from './rows.ts'

/** An empty part of the page's width; it ends at infinity at its edges. */
interface Gap {
  start: number
  end: number
}

/** Rows below one another, and the gaps that all of them have. */
export interface Band {
  rows: Row[]
  gaps: Gap[]
}

/** Min width of a gap, in sizes of the font. */
const narrowestGap = 0.8
/** Max columns of a table that are recognised. */
const maxGaps = 50
/** Min steps down, in usual ones, that separate text above from text below, over all columns. */
const greatStep = 2.2
const stepToMargin = 1.7
/** Min size of a heading, in usual ones. */
const headingSize = 1.15

/** Cuts where a row is in the gutters of those above it, and where blank space crosses all columns. */
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

/** Returns gaps with text on both sides. */
export function guttersOf(gaps: readonly Gap[]): Gap[] {
  return gaps.filter(({ start, end }) => Number.isFinite(start) && Number.isFinite(end))
}

/** Returns true for another band: below a wide step, a table can have a gutter in a text's place of one. */
function isOther(
  before: readonly Gap[],
  here: readonly Gap[],
  common: readonly Gap[],
  step: number,
): boolean {
  const [above = 0, own = 0, shared = 0] = [before, here, common].map(gaps => guttersOf(gaps).length)
  if (shared === 0) return above !== 0 || own !== 0
  // A line without gaps that crosses a gutter of the rows next to it, such as a caption, is separate.
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

/** Returns no gaps if there are very many, of which none is a gutter. */
function few(gaps: Gap[]): Gap[] {
  return gaps.length > maxGaps ? [] : gaps
}
