import { setTimeout as delay } from 'node:timers/promises'
import type { IsolationLevel, Kysely, Transaction } from 'kysely'
import type { OnBegin, RunShared } from './shared-transactions.ts'
import { createSharedTransactions } from './shared-transactions.ts'

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

/** How long a transaction is tried anew, and the pauses in between: in milliseconds. */
const patience = 10_000
const shortestPause = 2
const longestPause = 100

/** Those whose transactions are shared. */
const sharing = new WeakMap<object, RunShared>()

/**
 * To be called by an engine that lets one transaction write at a time; see `createSharedTransactions`. `onBegin` is
 * told of each that has begun.
 */
export function shareTransactions(db: object, onBegin?: OnBegin): void {
  sharing.set(db, createSharedTransactions(db, onBegin))
}

/**
 * Runs `work` as if nobody else used the database meanwhile: on an engine that finds out only afterwards that somebody
 * did, again and again, for some seconds, and on one that shares transactions once more, alone, if the shared one fails.
 * So whatever `work` changes outside of `transaction` must bear to be done anew.
 * @param isolation a lower one where all that `work` decides by are rows that it has changed itself by then.
 * @throws TransactionConflict when the last attempt has met others, too.
 */
export async function inTransaction<Tables, Result>(
  db: Kysely<Tables>,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
  isolation: IsolationLevel = 'serializable',
): Promise<Result> {
  const runShared = sharing.get(db)
  if (runShared !== undefined) return await runShared(work)
  const attempt = () => db.transaction().setIsolationLevel(isolation).execute(work)
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof TransactionConflict)) throw error
    return await inLine(db, () => tryAgain(attempt, performance.now() + patience))
  }
}

/** The ends of the lines in which those wait that are to be done anew, by their database. */
const lines = new WeakMap<object, Promise<unknown>>()

/** One after the other, since those that have met would meet again. */
function inLine<Result>(db: object, work: () => Promise<Result>): Promise<Result> {
  const result = (lines.get(db) ?? Promise.resolve()).then(work)
  lines.set(
    db,
    result.catch(() => {}),
  )
  return result
}

async function tryAgain<Result>(attempt: () => Promise<Result>, giveUpAt: number): Promise<Result> {
  for (let longest = shortestPause; ; longest = Math.min(longest * 2, longestPause)) {
    // Of different length, since those of other processes try again, too.
    await delay(shortestPause + Math.random() * longest)
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof TransactionConflict) || performance.now() > giveUpAt) throw error
    }
  }
}
