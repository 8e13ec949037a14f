import { onTestFinished } from 'vitest'
import { createEngine } from '#storage/postgres/engine.ts'
import { databasesOn } from './databases-on.ts'
import { openEmbeddedStorage } from './embedded-storage.ts'
import { createTestDatabase } from './postgres/databases.ts'

/** Platform and agent databases of the running test's own, on the engine of its project. */
export async function openStorage() {
  const database = await createTestDatabase()
  if (database === undefined) return openEmbeddedStorage()
  onTestFinished(database.remove)
  return databasesOn(createEngine({ url: database.url, maxConnections: 6, onError: () => {} }))
}
