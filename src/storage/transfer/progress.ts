/** Reports the progress of a transfer to a person. */
export interface Progress {
  say(line: string): void
  /** Counts the rows of a table as they are written, and reports on large tables now and then. */
  of(table: string): (rows: number) => void
}

const rowsPerLine = 10_000

export function createProgress(say: (line: string) => void): Progress {
  return {
    say,
    of(table) {
      let written = 0
      return rows => {
        const before = Math.floor(written / rowsPerLine)
        written += rows
        if (Math.floor(written / rowsPerLine) > before) say(`  ${table}: ${written} rows so far`)
      }
    },
  }
}
