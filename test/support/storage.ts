import { onTestFinished } from 'vitest'
import type { OnEnd } from './databases-on.ts'
import { openEmbeddedStorage } from './embedded-storage.ts'
import { createTestDatabase } from './postgres/databases.ts'
import { openPostgresStorage } from './postgres/storage.ts'

/** Platform and agent databases of the running test's own, or of all until `onEnd`, on the engine of their project. */
export async function openStorage(onEnd: OnEnd = onTestFinished) {
  const database = await createTestDatabase()
  if (database === undefined) return openEmbeddedStorage({ onEnd })
  onEnd(database.remove)
  return openPostgresStorage(database.url, { onEnd })
}
