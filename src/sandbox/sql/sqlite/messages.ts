import type { Problem } from '../problem.ts'
import type { SqlResult, SqlStatement } from '../sql-runner.ts'

/** Messages to the process that runs statements. */
export interface ToChild {
  /** File of the database; the process closes its former one. */
  path: string
  statement: SqlStatement
}

/** Messages from the process, in the order of the statements. */
export type Answer = { result: SqlResult } | { problem: Problem }

/** Messages from the process: `ready` once it accepts statements. */
export type FromChild = Answer | 'ready'

/**
 * File descriptor of the pipe that closes with the parent; the first four are standard input, output and error, and the
 * messages.
 */
export const lifelineNumber = 4
