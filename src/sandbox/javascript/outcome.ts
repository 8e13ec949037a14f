export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }

export const consoleLevels = ['log', 'info', 'warn', 'error', 'debug'] as const

export interface ConsoleLine {
  level: (typeof consoleLevels)[number]
  text: string
}

/**
 * Why there is no value:
 * `threw` an error of the code, a wrong syntax or a value that is no JSON; `timed-out` too much processor time, or too long in
 * all; `out-of-memory`; `never-settled` it awaits what nothing can bring about; `refused` code or argument are not acceptable;
 * `busy` no thread became free in time.
 */
export type Failure = 'threw' | 'timed-out' | 'out-of-memory' | 'never-settled' | 'refused' | 'busy'

/** How a run ended, as its thread tells it: the value is still text. */
export type Ending = { outcome: 'returned'; json: string } | FailedEnding

export interface FailedEnding {
  outcome: Failure
  /** What was wrong, for the person who wrote the code, with the line of it where that is known. */
  message: string
}

export type RunResult = { console: ConsoleLine[] } & (
  | { outcome: 'returned'; value: JsonValue }
  | FailedEnding
)
