import { createEngine } from '#storage/postgres/engine.ts'
import { databasesOn } from '../databases-on.ts'

/** Platform and agent databases of one process on PostgreSQL, closed when the running test has finished. */
export function openPostgresStorage(url: string) {
  return databasesOn(createEngine({ url, maxConnections: 6, onError: () => {} }))
}
