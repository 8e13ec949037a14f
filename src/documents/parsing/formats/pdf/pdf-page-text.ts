import { type Band, bandsOf, guttersOf } from './reading-order/bands.ts'
import { gridOf, isInColumns, tableRowsOf } from './reading-order/columns.ts'
import { isFromRight } from './reading-order/direction.ts'
import { directionsOf } from './reading-order/paragraph-direction.ts'
import { joined, median, type Row, rowsOf, textOf, wideStep, widthOf } from './reading-order/rows.ts'
import { type Run, runsByDirection, type TextItem } from './reading-order/runs.ts'

/** A line of reading: in a table, a row. */
interface Line {
  text: string
  /** Its first and its last baseline, downwards. */
  top: number
  bottom: number
}

/** Max levels of columns inside of columns. */
const maxLevels = 6
/** Max layers of overlapping text; beyond them no order can be found. */
const maxLayers = 2.5

/**
 * Returns lines in reading order, independent of the drawing order, including hyphens; a blank line between
 * paragraphs and at the end.
 */
export function pageText(items: readonly TextItem[], isVertical: (fontName: string) => boolean): string {
  return runsByDirection(items, isVertical)
    .map(runs => paragraphsOf(linesOf(joined(runs))))
    .join('')
}

function linesOf(runs: readonly Run[]): Line[] {
  const rows = rowsOf(runs)
  const covered = runs.reduce((sum, run) => sum + widthOf([run]), 0)
  const room = rows.reduce((sum, row) => sum + widthOf(row.runs), 0)
  return covered > room * maxLayers
    ? runs.map(run => ({ text: textOf([run]), top: run.base, bottom: run.base }))
    : readRows(rows, 0)
}

function readRows(rows: readonly Row[], level: number): Line[] {
  return bandsOf(rows).flatMap(band => readBand(band, level))
}

function readBand(band: Band, level: number): Line[] {
  const isRight = new Map(directionsOf(band.rows).map((direction, index) => [band.rows[index], direction]))
  const whole = (row: Row) => ({ text: textOf(row.runs, isRight.get(row)), top: row.base, bottom: row.base })
  if (guttersOf(band.gaps).length === 0) return band.rows.map(row => unbroken(whole(row)))
  const grid = gridOf(band)
  if (level < maxLevels && isInColumns(grid)) {
    return grid.columns.flatMap(({ lines }) => readRows(lines, level + 1))
  }
  if (band.rows.length === 1) return band.rows.map(row => unbroken(whole(row)))
  return tableRowsOf(grid).flatMap(({ rows, cells }) => {
    const [first, last] = [rows[0], rows.at(-1)]
    if (first === undefined || last === undefined) return []
    if (rows.length === 1) return [whole(first)]
    const texts = grid.columns.map((_, column) =>
      filled(cells.map(row => textOf(row[column] ?? []))).join(' '),
    )
    return [{ text: filled(texts).join('\t'), top: first.base, bottom: last.base }]
  })
}

/** Replaces gaps where the direction changes: these are wide spaces, not the gutters of a table. */
function unbroken(line: Line): Line {
  return isFromRight(line.text) ? { ...line, text: line.text.replaceAll('\t', ' ') } : line
}

function filled(texts: readonly string[]): string[] {
  return texts.filter(text => text !== '')
}

function paragraphsOf(lines: readonly Line[]): string {
  const steps = lines.map((line, index) => Math.max(0, line.top - (lines[index - 1]?.bottom ?? line.top)))
  const usual = median(steps.filter(step => step > 0))
  const text = lines
    .map(({ text }, index) => ((steps[index] ?? 0) > usual * wideStep ? `\n${text}` : text))
    .join('\n')
    .trim()
  return text === '' ? '' : `${text}\n\n`
}
