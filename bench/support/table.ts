import { availableParallelism } from 'node:os'

/** One figure, with what it was worked out from. */
export interface Row {
  what: string
  /** What the service did, and what the reference did in the same run, each with its unit. */
  service: string
  reference?: string
  /** The figure that the bar is about. */
  figure: number
  unit: 'ms' | 's' | 'MB' | '×' | '/s' | '%' | 'requests'
  /** The figure must be at most, or at least, this. */
  bar?: { most: number } | { least: number }
}

const headings = ['', 'service', 'reference', 'figure', 'bar', '']

/** Prints the figures of a benchmark, each beside its bar. */
export function printTable(title: string, reference: string, rows: readonly Row[]): void {
  const lines = [headings, ...rows.map(cellsOf)]
  const widths = headings.map((_, column) => Math.max(...lines.map(cells => cells[column]?.length ?? 0)))
  console.log(`\n${title} (${availableParallelism()} cores; the reference is ${reference})`)
  for (const cells of lines) {
    const padded = cells.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    )
    console.log(`  ${padded.join('   ').trimEnd()}`)
  }
}

function cellsOf({ what, service, reference = '', figure, unit, bar }: Row): string[] {
  const shown = `${rounded(figure)} ${unit}`
  if (bar === undefined) return [what, service, reference, shown, '', '']
  const [sign, limit] = 'most' in bar ? ['≤', bar.most] : ['≥', bar.least]
  const isHeld = 'most' in bar ? figure <= bar.most : figure >= bar.least
  return [what, service, reference, shown, `${sign} ${limit} ${unit}`, isHeld ? 'held' : 'MISSED']
}

/** With as many digits as mean something. */
export function rounded(value: number): string {
  if (Number.isInteger(value)) return String(value)
  return value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0)
}
