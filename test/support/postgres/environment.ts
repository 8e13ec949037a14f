import { createTestDatabase, type TestDatabase } from './databases.ts'

/** The databases of the data directories in use; undefined for those of the embedded engine. */
const databases = new Map<string, Promise<TestDatabase | undefined>>()

/** The environment variables that say where a service keeps its data: the same whenever the same folder is named. */
export async function storageEnvironment(dataDirectory: string): Promise<Record<string, string>> {
  const creating = databases.get(dataDirectory) ?? createTestDatabase('service')
  databases.set(dataDirectory, creating)
  const database = await creating
  return { DATA_DIR: dataDirectory, ...(database && { DATABASE_URL: database.url }) }
}

/** Removes the database of a folder that is no longer used; what tests leave behind goes when their project ends. */
export async function forgetStorage(dataDirectory: string): Promise<void> {
  const database = await databases.get(dataDirectory)
  databases.delete(dataDirectory)
  await database?.remove()
}
