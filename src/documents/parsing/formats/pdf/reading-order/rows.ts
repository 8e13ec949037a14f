import { raisedDigits } from '../../../raised-digits.ts'
import { isFromRight, logicalText } from './direction.ts'
import type { Run } from './runs.ts'

/** Adjacent runs, in their order on the page. */
export interface Row {
  base: number
  /** Size of its largest run. */
  size: number
  runs: Run[]
}

/** Number of usual steps beyond which a step down begins a paragraph, or a row of a table. */
export const wideStep = 1.35
/** Min gaps of a space, and of a tab, in sizes of the font. */
const spaceGap = 0.15
const tabGap = 1.5
/** Max width of a space inside of a text, and max overlap of letters of a word. */
const widestSpace = 0.6
const maxKerning = 0.05
/** Max distance of a row's baselines, for raised or lowered text. */
const rowTolerance = 0.5

/** Joins runs drawn in sequence, each beginning at the last end, including raised or lowered ones. */
export function joined(runs: readonly Run[]): Run[] {
  const found: Run[] = []
  let previous: Run | undefined
  for (const run of runs) {
    const last = found.at(-1)
    if (previous !== undefined && last !== undefined && isNext(previous, run)) {
      const parts = [last.text, separator(previous, run), shownText(previous, run)]
      last.text = (run.isMirrored ? parts.reverse() : parts).join('')
      last.end = run.end
      if (run.size > last.size) Object.assign(last, { base: run.base, size: run.size })
    } else found.push({ ...run })
    previous = run
  }
  return found
}

function isNext(previous: Run, run: Run): boolean {
  const gap = Math.abs(run.start - previous.end) / Math.max(run.size, previous.size)
  return gap < widestSpace && run.end > previous.end && isBeside(previous, run)
}

/** Returns rows from top to bottom. */
export function rowsOf(runs: readonly Run[]): Row[] {
  const rows: Row[] = []
  for (const run of runs.toSorted((one, other) => one.base - other.base)) {
    const row = rows.at(-1)
    if (row === undefined || !isBeside(row, run)) {
      rows.push({ base: run.base, size: run.size, runs: [run] })
      continue
    }
    row.runs.push(run)
    if (run.size > row.size) Object.assign(row, { base: run.base, size: run.size })
  }
  for (const row of rows) row.runs.sort((one, other) => one.start - other.start)
  return rows
}

/** Returns true for a run in the row; a letter several lines high belongs to the last of them alone. */
function isBeside(one: Pick<Row, 'base' | 'size'>, run: Run): boolean {
  const [small, large] = one.size < run.size ? [one.size, run.size] : [run.size, one.size]
  return Math.abs(run.base - one.base) <= rowTolerance * (large > 2 * small ? small : large)
}

/**
 * Returns the text in typing order, without the second drawing that makes letters bold.
 * @param isRightToLeft the direction of the paragraph
 */
export function textOf(runs: readonly Run[], isRightToLeft = runs[0]?.isMirrored ?? false): string {
  let text = ''
  let previous: Run | undefined
  for (const run of runs[0]?.isMirrored ? runs.toReversed() : runs) {
    const isAgain = run.text === previous?.text && Math.abs(run.start - previous.start) < run.size * 0.3
    if (isAgain) continue
    text += previous === undefined ? run.text : separator(previous, run) + shownText(previous, run)
    previous = run
  }
  return isFromRight(text) || isRightToLeft ? logicalText(text, isRightToLeft) : text
}

/** Returns a run's text. A run is raised if it is smaller and higher than the run before it. */
function shownText({ text, base, size }: Run, run: Run): string {
  const isRaised = run.size < 0.9 * size && base - run.base > 0.1 * size
  return isRaised ? raisedDigits(run.text, text) : run.text
}

function separator(one: Run, other: Run): string {
  if (/\s$/.test(one.text) || /^\s/.test(other.text)) return ''
  const gap =
    (Math.max(one.start, other.start) - Math.min(one.end, other.end)) / Math.max(one.size, other.size)
  if (gap > tabGap) return '\t'
  const isLetter = one.text.length === 1 || other.text.length === 1
  return gap > spaceGap || (gap < -maxKerning && !isLetter) ? ' ' : ''
}

/** Returns the step from the row above; 0 for the first one. */
export function stepTo(rows: readonly Row[], index: number): number {
  const [above, row] = [rows[index - 1], rows[index]]
  return above === undefined || row === undefined ? 0 : row.base - above.base
}

/** Returns the width from the first run's start to the farthest end. */
export function widthOf(runs: readonly Run[]): number {
  const start = runs.reduce((least, run) => Math.min(least, run.start), Infinity)
  return runs.reduce((end, run) => Math.max(end, run.end), -Infinity) - start
}

export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) / 2)] ?? 0
}
