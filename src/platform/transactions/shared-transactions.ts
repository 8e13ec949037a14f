import { AsyncLocalStorage } from 'node:async_hooks'
import type { Kysely, Transaction } from 'kysely'

type Work<Tables, Result> = (transaction: Transaction<Tables>) => Promise<Result>

/** Runs `work` in a transaction, which it can share with others. */
export type RunShared = <Tables, Result>(work: Work<Tables, Result>) => Promise<Result>

interface Member {
  work: Work<unknown, unknown>
  resolve(result: unknown): void
  reject(error: unknown): void
}

/**
 * Creates them for a database with a single writer, where transactions wait for each other anyway. Those that
 * are requested at the same moment run one after the other in a single one, because beginning and committing
 * cost as much as most of their work. No caller learns an outcome before the commit. If one of them or the
 * commit fails, everything is rolled back and each runs again alone. (Savepoints could roll back one alone,
 * but with them SQLite copies every changed page.)
 */
export function createSharedTransactions(database: unknown): RunShared {
  // Callers know the tables; here they do not matter.
  const db = database as Kysely<unknown>
  const waiting: Member[] = []

  function begin(): void {
    const members = waiting.splice(0)
    if (members.length === 1) members.forEach(runAlone)
    else void runTogether(members)
  }

  async function runTogether(members: readonly Member[]): Promise<void> {
    try {
      const results = await run(async transaction => {
        const values: unknown[] = []
        for (const { work } of members) values.push(await work(transaction))
        return values
      })
      for (const [index, { resolve }] of members.entries()) resolve(results[index])
    } catch {
      members.forEach(runAlone)
    }
  }

  function runAlone({ work, resolve, reject }: Member): void {
    run(work).then(resolve, reject)
  }

  function run<Result>(work: Work<unknown, Result>): Promise<Result> {
    return db.transaction().execute(work)
  }

  return <Tables, Result>(work: Work<Tables, Result>) =>
    new Promise<Result>((resolve, reject) => {
      // Begins after everything that is running now, which can request transactions, too.
      if (waiting.length === 0) process.nextTick(begin)
      // Each runs in the context of its caller, whichever of them begins.
      waiting.push({ work: AsyncLocalStorage.bind(work), resolve, reject } as unknown as Member)
    })
}
