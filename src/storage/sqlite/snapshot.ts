import type { Kysely, QueryExecutorProvider, Transaction } from 'kysely'
import type { RunAtOnce } from '../prepared-query.ts'
import { offerRunAtOnce } from '../prepared-query.ts'

const runners = new WeakMap<object, RunAtOnce>()
const snapshots = new WeakSet<object>()

/** Lets `run` read the snapshots of a database, since the way through Kysely takes longer than most of these reads. */
export function offerSnapshots(db: object, run: RunAtOnce): void {
  runners.set(db, run)
}

/** See `search-engine.ts` for the contract. */
export async function readSnapshot<Tables, Result>(
  db: Kysely<Tables>,
  work: (snapshot: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  const run = runners.get(db)
  return await db
    .transaction()
    .setAccessMode('read only')
    .execute(snapshot => {
      snapshots.add(snapshot)
      const end = run && offerRunAtOnce(snapshot, run)
      return work(snapshot).finally(end)
    })
}

/** Reads only once from each snapshot, where nothing changes, and each time from anywhere else. */
export function oncePerSnapshot<Result>(
  read: (db: QueryExecutorProvider) => Promise<Result>,
): (db: QueryExecutorProvider) => Promise<Result> {
  const results = new WeakMap<object, Promise<Result>>()
  return db => {
    const result = results.get(db) ?? read(db)
    if (snapshots.has(db)) results.set(db, result)
    return result
  }
}
