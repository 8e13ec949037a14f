/** Writes blocks of text below one another, within quotes and items of lists. */
export interface BlockWriter {
  /** At least so many line breaks stand before the next text. */
  separate(lineBreaks: 1 | 2): void
  /** Whole lines, with a blank one before them; the text may hold line breaks. */
  write(text: string): void
  /** Does `work` such that the first line it writes begins with `first`, and all others with `rest`. */
  within(marks: { first: string; rest: string }, work: () => void): void
  text(): string
}

/** Levels of quotes and lists that are written as such: each makes all lines within longer. */
const maxLevels = 20

export function createBlockWriter(): BlockWriter {
  const lines: string[] = []
  let breaks = 0
  let prefix = ''
  /** In place of the prefix, until the first line within is written. */
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
