import type { ConsoleLine, FailedEnding } from './outcome.ts'

/** Number of console lines in an error: the last ones say most. */
const shownLines = 20

/** Why a run gave no value, with the last lines of its console. */
export function describeFailure({ message, console }: FailedEnding & { console: ConsoleLine[] }): string {
  const lines = console.slice(-shownLines).map(describeLine)
  return lines.length === 0 ? message : `${message} It wrote to its console: ${lines.join('\n')}`
}

export function describeLine({ level, text }: ConsoleLine): string {
  return level === 'log' ? text : `${level}: ${text}`
}
