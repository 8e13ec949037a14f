/** Finds the lines of a page that go from right to left. */
import { isFromRight, lettersOf } from './direction.ts'
import { median, type Row, stepTo, textOf, wideStep } from './rows.ts'

/** Min distance from the left margin of a row at the right one, in sizes of the font. */
const indent = 3
/** Letters from the left that one from the right outweighs on a page with columns from right to left. */
const weightOfRight = 3

/** Returns true for rows of paragraphs from right to left: by most letters, or at the right margin. */
export function directionsOf(rows: readonly Row[]): boolean[] {
  const texts = rows.map(({ runs }) => runs.map(({ text }) => text).join(' '))
  if (!texts.some(isFromRight)) return rows.map(() => false)
  const step = median(rows.slice(1).map((_, index) => stepTo(rows, index + 1)))
  const found: boolean[] = []
  for (let start = 0; start < rows.length; ) {
    let end = start + 1
    while (end < rows.length && stepTo(rows, end) <= step * wideStep && goesOn(rows, end)) end++
    const { right, left } = lettersOf(texts.slice(start, end).join(' '))
    const weight = rows[start]?.runs[0]?.isMirrored ? weightOfRight : 1
    const isRight =
      right > 0 && (right * weight > left || rows.slice(start, end).every(row => isAtRight(row, rows)))
    while (found.length < end) found.push(isRight)
    start = end
  }
  return found
}

/** Returns true if a row belongs to the paragraph of the one above, at the same margin and without an end. */
function goesOn(rows: readonly Row[], index: number): boolean {
  const [above, row] = [rows[index - 1], rows[index]]
  if (above === undefined || row === undefined) return false
  const isAligned = extentOf([above]).some(
    (edge, side) => Math.abs(edge - (extentOf([row])[side] ?? 0)) < row.size,
  )
  const { right, left } = lettersOf(above.runs.map(({ text }) => text).join(' '))
  return isAligned && !/[.!?:؟۔]\s*$/.test(textOf(above.runs, right > left))
}

/** Returns true if a row ends with a word from the right at the right margin, but not at the left one. */
function isAtRight(row: Row, rows: readonly Row[]): boolean {
  const [[start, end], [first, last]] = [extentOf([row]), extentOf(rows)]
  const words =
    row.runs
      .map(({ text }) => text)
      .join(' ')
      .match(/\S+/g) ?? []
  return (
    !row.runs[0]?.isMirrored &&
    end > last - row.size &&
    start > first + row.size * indent &&
    isFromRight(words.at(-1) ?? '')
  )
}

function extentOf(rows: readonly Row[]): [start: number, end: number] {
  const runs = rows.flatMap(row => row.runs)
  return [
    runs.reduce((least, { start }) => Math.min(least, start), Infinity),
    runs.reduce((most, { end }) => Math.max(most, end), -Infinity),
  ]
}
