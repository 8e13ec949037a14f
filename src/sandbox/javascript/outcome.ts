export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }

export const consoleLevels = ['log', 'info', 'warn', 'error', 'debug'] as const

export interface ConsoleLine {
  level: (typeof consoleLevels)[number]
  text: string
}

/**
 * The reason why there is no value:
 * `threw` an error of the code, a syntax error, or a value that is not JSON; `timed-out` too much processor
 * time, or too much time in total; `out-of-memory`; `never-settled` it awaits an impossible event; `refused`
 * code or argument are not acceptable; `busy` no thread became free in time.
 */
export type Failure = 'threw' | 'timed-out' | 'out-of-memory' | 'never-settled' | 'refused' | 'busy'

/** The ending of a run in its thread: the value is still JSON text. */
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
