import type { Kysely, Transaction } from 'kysely'
import { CompiledQuery } from 'kysely'

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

const enter = CompiledQuery.raw('savepoint member')
const leave = CompiledQuery.raw('release member')
const undo = CompiledQuery.raw('rollback to member')

/**
 * For a database with a single writer, where transactions wait for each other anyway: those that are wanted at the same
 * moment become parts of one, one after the other, since beginning and committing cost as much as what most of them do.
 * A part that fails is undone by itself. Nobody is told of an outcome before the commit; where that fails, or the whole
 * is lost before it, each is tried alone.
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
      const settlements = await run(transaction => runParts(transaction, members))
      for (const settle of settlements) settle()
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

/** What each member is to be told after the commit. */
async function runParts(
  transaction: Transaction<unknown>,
  members: readonly Member[],
): Promise<(() => void)[]> {
  const settlements: (() => void)[] = []
  for (const { work, resolve, reject } of members) {
    await transaction.executeQuery(enter)
    try {
      const result = await work(transaction)
      settlements.push(() => resolve(result))
    } catch (error) {
      await transaction.executeQuery(undo)
      settlements.push(() => reject(error))
    }
    await transaction.executeQuery(leave)
  }
  return settlements
}
