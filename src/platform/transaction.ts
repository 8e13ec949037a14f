import { setTimeout as delay } from 'node:timers/promises'
import type { IsolationLevel, Kysely, Transaction } from 'kysely'

/**
 * What a database throws when transactions that ran at the same time can't all be kept: nothing of this one was, and
 * doing it again can succeed.
 */
export class TransactionConflict extends Error {
  constructor(cause: unknown) {
    super('A transaction could not be kept beside others that ran at the same time.', { cause })
    this.name = 'TransactionConflict'
  }
}

/** Attempts in all; with the pauses between them, some seconds. */
const maxAttempts = 25
/** Milliseconds. */
const shortestPause = 2
const longestPause = 200

/**
 * Runs `work` as if nobody else used the database meanwhile: on an engine that finds out only afterwards that somebody
 * did, again and again. So whatever `work` changes outside of `transaction` must bear to be done anew.
 * @throws TransactionConflict when the last attempt has met others, too.
 */
export async function inTransaction<Tables, Result>(
  db: Kysely<Tables>,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction().setIsolationLevel(isolation).execute(work)
    } catch (error) {
      if (!(error instanceof TransactionConflict) || attempt === maxAttempts) throw error
    }
    // Of different length, so that what met once does not meet again.
    await delay(shortestPause + Math.random() * Math.min(longestPause, shortestPause * 2 ** attempt))
  }
}

const isolation: IsolationLevel = 'serializable'
