import type { Problem } from '../problem.ts'
import type { SqlResult, SqlStatement } from '../sql-runner.ts'

/** To the process that runs statements. */
export interface ToChild {
  /** File of the database; the process leaves the one that it had open. */
  path: string
  statement: SqlStatement
}

/** From it, in the order of the statements. */
export type Answer = { result: SqlResult } | { problem: Problem }

/** Once it can take statements it says so. */
export type FromChild = Answer | 'ready'

/** Number of the pipe that ends with the parent; the first four are the standard ones and that of messages. */
export const lifelineNumber = 4
