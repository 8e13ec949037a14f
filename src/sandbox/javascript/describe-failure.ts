import type { ConsoleLine, FailedEnding } from './outcome.ts'

/** Number of console lines in an error, which are the last ones. */
const shownLines = 20

/** Returns the reason why a run gave no value, with the last lines of its console. */
export function describeFailure({ message, console }: FailedEnding & { console: ConsoleLine[] }): string {
  const lines = console.slice(-shownLines).map(describeLine)
  return lines.length === 0 ? message : `${message} It wrote to its console: ${lines.join('\n')}`
}

export function describeLine({ level, text }: ConsoleLine): string {
  return level === 'log' ? text : `${level}: ${text}`
}
