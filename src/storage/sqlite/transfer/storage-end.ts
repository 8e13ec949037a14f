import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { systemClock } from '#platform/clock.ts'
import { createWakeUps } from '#platform/jobs/sqlite/wake-ups.ts'
import { openPlatformDatabase } from '../../platform-database.ts'
import type { StorageEnd } from '../../transfer/storage-end.ts'
import { openDataDirectory } from '../connections/data-directory.ts'
import { createEngine } from '../engine.ts'
import { searchEngine } from '../search-engine.ts'
import { catalogue } from './catalogue.ts'

/**
 * A data directory that no service can use until this is closed.
 * @throws Error with a sentence while one uses it, or if the data must exist and does not.
 */
export async function openDirectoryEnd(
  path: string,
  { mustExist }: { mustExist: boolean },
): Promise<StorageEnd> {
  const name = directoryName(path)
  if (mustExist && !existsSync(join(name, 'platform.db'))) throw new Error(`there is no data in ${name}.`)
  const directory = await openDataDirectory(path)
  // After a power cut, neither database must know more of a copy than the other.
  const engine = createEngine({ directory, synchronous: 'full' })
  try {
    const platform = await openPlatformDatabase(engine)
    return {
      name,
      engine,
      catalogue,
      search: searchEngine,
      platform,
      storedAgents: () => namesIn(join(name, 'agents')),
      keyFile: directory.encryptionKey,
      openWakeUps: async () => createWakeUps({ db: platform.$pickTables<'wake_ups'>(), clock: systemClock }),
      // The lock on the directory keeps the data untouched.
      requireUntouched: async () => {},
      startWith: `Start the service with DATA_DIR=${name} and without DATABASE_URL.`,
      async close() {
        await platform.destroy()
        await engine.close()
      },
    }
  } catch (error) {
    await engine.close()
    throw error
  }
}

export function directoryName(path: string): string {
  return resolve(path)
}

async function namesIn(folder: string): Promise<string[]> {
  return existsSync(folder) ? await readdir(folder) : []
}
