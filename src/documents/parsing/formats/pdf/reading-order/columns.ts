import { type Band, guttersOf } from './bands.ts'
import { median, type Row, rowsOf, stepTo, textOf, wideStep, widthOf } from './rows.ts'
import type { Run } from './runs.ts'

/** A band cut at its gutters. */
export interface Grid {
  rows: Row[]
  /** Cells by row and column, possibly empty. */
  cells: Run[][][]
  columns: Column[]
  /** The usual step down from line to line. */
  step: number
}

interface Column {
  lines: Row[]
  width: number
}

/** Min length of a line of text, in sizes of the font; lists and tables have shorter ones. */
const minLineLength = 8

export function gridOf({ rows, gaps }: Band): Grid {
  const gutters = guttersOf(gaps)
  const cells = rows.map(({ runs }) => {
    const cells: Run[][] = [[], ...gutters.map(() => [])]
    let column = 0
    for (const run of runs) {
      while (run.start >= (gutters[column]?.end ?? Infinity)) column++
      cells[column]?.push(run)
    }
    return cells
  })
  const columns = [0, ...gutters.keys().map(index => index + 1)].map(column => {
    const runs = cells.flatMap(row => row[column] ?? [])
    return { lines: rowsOf(runs), width: widthOf(runs) }
  })
  const steps = columns.map(({ lines }) => median(lines.slice(1).map((_, index) => stepTo(lines, index + 1))))
  return { rows, cells, columns, step: Math.min(...steps.filter(step => step > 0)) }
}

/** Returns true if columns are read one by one: there is running text, and lines are close in all. */
export function isInColumns(grid: Grid): boolean {
  const { columns, step } = grid
  const isClose = ({ lines }: Column) => {
    const close = lines.filter((_, index) => index > 0 && stepTo(lines, index) <= step * wideStep)
    return close.length > 0 && close.length >= (lines.length - 1) / 2
  }
  return (
    columns.every(isClose) &&
    columns.some(isRunningText) &&
    !columns.keys().some(column => isOfNumbers(grid, column)) &&
    !hasTallRows(grid)
  )
}

/** Returns true if a column holds short entries, mostly numbers, each beside its subject. */
function isOfNumbers({ cells, columns }: Grid, column: number): boolean {
  const lines = columns[column]?.lines ?? []
  const beside = cells.filter(row => isFilled(row[column] ?? []) && row.filter(isFilled).length > 1)
  const numbers = lines.filter(({ runs }) => /^[\p{Sc}+\-–−(]?\d/u.test(textOf(runs)))
  return (
    beside.length === lines.length &&
    numbers.length * 2 >= lines.length &&
    lines.every(({ runs, size }) => widthOf(runs) <= size * minLineLength)
  )
}

function isRunningText({ lines, width }: Column): boolean {
  const full = lines.filter(({ runs, size }, index) => {
    const next = lines[index + 1]?.runs
    return next !== undefined && widthOf(runs) > size * minLineLength && isFull(runs, next, width)
  })
  return full.length >= (lines.length - 1) / 2
}

/** Returns the rows of a band by rows of its table, whose cells can have several lines. */
export function tableRowsOf(grid: Grid): Pick<Grid, 'rows' | 'cells'>[] {
  const { rows, cells } = grid
  const isTall = hasTallRows(grid)
  const isTable = cells.filter(row => row.filter(isFilled).length > 1).length > 1
  const starts = [...rows.keys()].filter(
    index => !(isTable && goesOn(grid, index) && (isTall || hasEnded(grid, index))),
  )
  return starts.map((start, index) => {
    const end = starts[index + 1]
    return { rows: rows.slice(start, end), cells: cells.slice(start, end) }
  })
}

/** Returns true if there is space between rows of the table, more of it below some cells, and none inside. */
function hasTallRows(grid: Grid): boolean {
  const spaces = [...grid.rows.keys()].slice(1).filter(index => !isNear(grid, index))
  const lines = [...grid.rows.keys()].slice(1).filter(index => isNear(grid, index))
  return (
    spaces.some(index => !grid.cells[index - 1]?.every(isFilled)) && lines.every(index => goesOn(grid, index))
  )
}

function isNear({ rows, step }: Grid, index: number): boolean {
  return stepTo(rows, index) <= step * wideStep
}

function isFilled(cell: readonly Run[]): boolean {
  return cell.length > 0
}

/** Returns true if a cell ended in the row above, while others can continue. */
function hasEnded({ cells }: Grid, index: number): boolean {
  return (cells[index - 1] ?? []).some(
    (cell, column) => isFilled(cell) && !isFilled(cells[index]?.[column] ?? []),
  )
}

/** Returns true if each cell of a row can be another line of the one above. */
function goesOn(grid: Grid, index: number): boolean {
  return (
    isNear(grid, index) &&
    (grid.cells[index] ?? []).every((cell, column) => {
      const [first] = cell
      if (first === undefined) return true
      const [above = [], width = 0] = [grid.cells[index - 1]?.[column], grid.columns[column]?.width]
      const isSentence = width > first.size * minLineLength || /^\p{Ll}/u.test(first.text)
      return isFilled(above) && isSentence && isFull(above, cell, width)
    })
  )
}

/** Returns true if the next line's first word had no room on this one, unlike in a table of contents. */
function isFull(runs: readonly Run[], next: readonly Run[], width: number): boolean {
  const text = textOf(next)
  const word = /^(?:[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]|\S+)/u.exec(text)?.[0] ?? ''
  const hasRoom = widthOf(runs) + (widthOf(next) * (word.length + 1)) / text.length <= width
  return !hasRoom && !/(?:[.·…]\s?){4}/.test(textOf(runs))
}
