import type { Kysely, QueryExecutorProvider, Transaction } from 'kysely'

const snapshots = new WeakSet<object>()

/** See `search-engine.ts` for the contract. */
export async function readSnapshot<Tables, Result>(
  db: Kysely<Tables>,
  work: (snapshot: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  return await db
    .transaction()
    .setAccessMode('read only')
    .execute(snapshot => {
      snapshots.add(snapshot)
      return work(snapshot)
    })
}

/** Reads only once from each snapshot, in which nothing changes, and each time from anywhere else. */
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
