export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }

export const consoleLevels = ['log', 'info', 'warn', 'error', 'debug'] as const

export interface ConsoleLine {
  level: (typeof consoleLevels)[number]
  text: string
}

/**
 * Why there is no value:
 * `threw` an error of the code, a syntax error, or a value that is not JSON; `timed-out` too much processor time, or
 * too much time in total; `out-of-memory`; `never-settled` it awaits something that can never happen; `refused` code or
 * argument are not acceptable; `busy` no thread became free in time.
 */
export type Failure = 'threw' | 'timed-out' | 'out-of-memory' | 'never-settled' | 'refused' | 'busy'

/** How a run ended, as reported by its thread: the value is still JSON text. */
export type Ending = { outcome: 'returned'; json: string } | FailedEnding

export interface FailedEnding {
  outcome: Failure
  /** The problem, for the author of the code, with its line if known. */
  message: string
}

export type RunResult = { console: ConsoleLine[] } & (
  | { outcome: 'returned'; value: JsonValue }
  | FailedEnding
)
