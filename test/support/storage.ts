import { onTestFinished } from 'vitest'
import { openEmbeddedStorage } from './embedded-storage.ts'
import { createTestDatabase } from './postgres/databases.ts'
import { openPostgresStorage } from './postgres/storage.ts'

/** Platform and agent databases of the running test's own, on the engine of its project. */
export async function openStorage() {
  const database = await createTestDatabase()
  if (database === undefined) return openEmbeddedStorage()
  onTestFinished(database.remove)
  return openPostgresStorage(database.url)
}
