import { createEngine } from '#storage/postgres/engine.ts'
import { type DatabaseOptions, databasesOn } from '../databases-on.ts'

/** Platform and agent databases of one process on PostgreSQL, closed in the end. */
export function openPostgresStorage(url: string, options: DatabaseOptions = {}) {
  return databasesOn(createEngine({ url, maxConnections: 6, onError: () => {} }), options)
}
