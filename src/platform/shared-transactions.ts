import type { Kysely, Transaction } from 'kysely'

type Work<Tables, Result> = (transaction: Transaction<Tables>) => Promise<Result>

/** Runs `work` in a transaction, which it may share with others. */
export type RunShared = <Tables, Result>(work: Work<Tables, Result>) => Promise<Result>

/** Is told of each transaction that has begun; what it gives back is called before that ends. */
export type OnBegin = (transaction: object) => () => void

interface Member {
  work: Work<unknown, unknown>
  resolve(result: unknown): void
  reject(error: unknown): void
}

/**
 * For a database with a single writer, where transactions wait for each other anyway: those that are wanted at the same
 * moment become parts of one, one after the other, since beginning and committing cost as much as what most of them do.
 * Nobody is told of an outcome before the commit. Where a part fails, or the commit, all is undone and each is done anew
 * and alone: savepoints, to undo one part, would have the database copy every page that a part changes.
 */
export function createSharedTransactions(database: unknown, onBegin: OnBegin = () => () => {}): RunShared {
  // The tables are known to those who work on them.
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
        const given: unknown[] = []
        for (const { work } of members) given.push(await work(transaction))
        return given
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
    return db.transaction().execute(transaction => {
      const end = onBegin(transaction)
      return work(transaction).finally(end)
    })
  }

  return <Tables, Result>(work: Work<Tables, Result>) =>
    new Promise<Result>((resolve, reject) => {
      // After all that is going on by itself at this moment, which may want transactions, too.
      if (waiting.length === 0) process.nextTick(begin)
      waiting.push({ work, resolve, reject } as unknown as Member)
    })
}
