/** Writes blocks of text below one another, within quotes and items of lists. */
export interface BlockWriter {
  /** Ensures this min number of line breaks before the next text. */
  separate(lineBreaks: 1 | 2): void
  /** Writes whole lines, with a blank one before them; the text can hold line breaks. */
  write(text: string): void
  /** Does `work` with `first` before its first line, and `rest` before all others. */
  within(marks: { first: string; rest: string }, work: () => void): void
  text(): string
}

/** Max levels of written quotes and lists: each makes all lines within longer. */
const maxLevels = 20

export function createBlockWriter(): BlockWriter {
  const lines: string[] = []
  let breaks = 0
  let prefix = ''
  /** Mark instead of the prefix, until the first line within is written. */
  let mark: string | undefined
  let levels = 0

  function separate(lineBreaks: 1 | 2): void {
    if (mark === undefined) breaks = Math.max(breaks, lineBreaks)
  }

  return {
    separate,
    write(text) {
      separate(2)
      if (breaks > 1 && lines.length > 0) lines.push(prefix.trimEnd())
      for (const line of text.split('\n')) {
        lines.push(line === '' && mark === undefined ? prefix.trimEnd() : (mark ?? prefix) + line)
        mark = undefined
      }
      breaks = 1
    },
    within({ first, rest }, work) {
      if (levels === maxLevels) {
        work()
        return
      }
      const outer = { prefix, mark }
      const begun = lines.length
      levels += 1
      mark = (mark ?? prefix) + first
      prefix += rest
      work()
      levels -= 1
      prefix = outer.prefix
      mark = lines.length === begun ? outer.mark : undefined
    },
    text: () => lines.join('\n'),
  }
}
