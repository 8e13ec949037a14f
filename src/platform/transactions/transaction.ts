import { setTimeout as delay } from 'node:timers/promises'
import { type IsolationLevel, type Kysely, type KyselyPlugin, sql, type Transaction } from 'kysely'
import { currentChange } from '../current-change.ts'
import { createSharedTransactions, type RunShared } from './shared-transactions.ts'

/** Thrown by a database for conflicting transactions. This one was rolled back; a retry can succeed. */
export class TransactionConflict extends Error {
  constructor(cause: unknown) {
    super('A transaction could not be kept beside others that ran at the same time.', { cause })
    this.name = 'TransactionConflict'
  }
}

/** Thrown by a database whose server has gone. Whether a transaction was kept that was being committed is not known. */
export class ConnectionLost extends Error {
  constructor(cause: unknown) {
    super('The connection to the database broke off.', { cause })
    this.name = 'ConnectionLost'
  }
}

/** How long a lost database is waited for, and how often it is tried, in milliseconds. */
const reconnecting = { timeout: 30_000, pause: 250 }

/** Runs `work`, and once more where the connection was lost, when the database answers again: what it writes may be written twice. */
export async function withReconnect<Tables, Result>(
  db: Kysely<Tables>,
  work: () => Promise<Result>,
): Promise<Result> {
  const giveUpAt = performance.now() + reconnecting.timeout
  const isLost = (error: unknown) => error instanceof ConnectionLost && performance.now() < giveUpAt
  const answers = () => sql`select 1`.execute(db).then(() => true)
  try {
    return await work()
  } catch (error) {
    if (!isLost(error)) throw error
    const refuse = (problem: unknown) => (isLost(problem) ? false : Promise.reject(problem))
    while (!(await answers().catch(refuse))) await delay(reconnecting.pause)
    return await work()
  }
}

/** Max time of retrying a transaction, and the pauses in between (ms). */
const timeout = 10_000
const minPause = 2
const maxPause = 100

/** Databases whose transactions are shared. */
const sharing = new WeakMap<object, RunShared>()

/** Call it for an engine with one writer at a time, see `createSharedTransactions`. */
export function shareTransactions(db: object): void {
  sharing.set(db, createSharedTransactions(db))
}

type Work<Tables, Result> = (transaction: Transaction<Tables>) => Promise<Result>

/**
 * Runs `work` as if alone on the database. An engine that notices conflicts only afterwards can run it
 * repeatedly, for some seconds; one that shares transactions runs it a second time, alone, if the shared
 * transaction fails. So `work` must not have effects outside of `transaction` that cannot be repeated.
 * @param isolation a lower level, if `work` decides only by rows that it has changed itself before.
 * @throws TransactionConflict when the last attempt conflicts as well.
 */
export async function inTransaction<Tables, Result>(
  db: Kysely<Tables>,
  work: Work<Tables, Result>,
  isolation: IsolationLevel = 'serializable',
): Promise<Result> {
  const joined = currentChange.getStore()?.join(db)
  if (joined === undefined) return await run(db, work, isolation)
  let isStored = false
  async function withRow(transaction: Transaction<Tables>): Promise<Result> {
    joined?.began()
    let writes = false
    const watch: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        writes ||= (result.numAffectedRows ?? 0n) > 0n
        return result
      },
    }
    const result = await work(transaction.withPlugin(watch))
    // A transaction that writes nothing, such as a check, stores no row.
    if (writes) await joined?.write(transaction)
    isStored = writes
    return result
  }
  return await run(db, withRow, isolation).then(
    result => joined.ended(isStored).then(() => result),
    error => joined.ended(false).then(() => Promise.reject(error)),
  )
}

async function run<Tables, Result>(
  db: Kysely<Tables>,
  work: Work<Tables, Result>,
  isolation: IsolationLevel,
): Promise<Result> {
  const runShared = sharing.get(db)
  if (runShared !== undefined) return await runShared(work)
  const attempt = () => db.transaction().setIsolationLevel(isolation).execute(work)
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof TransactionConflict)) throw error
    return await inLine(db, () => tryAgain(attempt, performance.now() + timeout))
  }
}

/** For each database, the end of the queue of transactions that are being retried. */
const lines = new WeakMap<object, Promise<unknown>>()

/** Runs work one after the other, because transactions that have conflicted would do so again. */
function inLine<Result>(db: object, work: () => Promise<Result>): Promise<Result> {
  const result = (lines.get(db) ?? Promise.resolve()).then(work)
  lines.set(
    db,
    result.catch(() => {}),
  )
  return result
}

async function tryAgain<Result>(attempt: () => Promise<Result>, giveUpAt: number): Promise<Result> {
  for (let longest = minPause; ; longest = Math.min(longest * 2, maxPause)) {
    // The pause is random, because other processes retry, too.
    await delay(minPause + Math.random() * longest)
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof TransactionConflict) || performance.now() > giveUpAt) throw error
    }
  }
}
