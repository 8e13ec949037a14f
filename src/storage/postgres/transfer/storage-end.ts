import type pg from 'pg'
import { systemClock } from '#platform/clock.ts'
import type { QueueDatabase } from '#platform/jobs/postgres/queue.ts'
import { createWakeUps } from '#platform/jobs/postgres/wake-ups.ts'
import { createLog } from '#platform/logging/log.ts'
import { openPlatformDatabase } from '../../platform-database.ts'
import type { StorageEnd } from '../../transfer/storage-end.ts'
import { claimData } from '../connections/data-lock.ts'
import { createEngine } from '../engine.ts'
import { searchEngine } from '../search-engine.ts'
import { catalogue } from './catalogue.ts'

/**
 * A database that no service and no other transfer can use until this is closed.
 * @throws Error with a sentence while one of them uses it, or if the data must exist and does not.
 */
export async function openDatabaseEnd(
  url: string,
  { mustExist }: { mustExist: boolean },
): Promise<StorageEnd> {
  const name = databaseName(url)
  const engine = createEngine({ url, maxConnections: 4, onError: () => {} })
  try {
    if (!(await engine.isUsed()) && mustExist) throw new Error(`there is no data of the service in ${name}.`)
    const lock = await claimData(url, name)
    try {
      const platform = await openPlatformDatabase(engine)
      return {
        name,
        engine,
        catalogue,
        search: searchEngine,
        platform,
        storedAgents: () => storedAgents(lock.client),
        keyFile: undefined,
        openWakeUps: () =>
          createWakeUps({ database: deaf(engine.direct), clock: systemClock, log: createLog('silent') }),
        requireUntouched: () => lock.requireHeld(),
        startWith: `Start the service with DATABASE_URL set to the address of ${name}.`,
        async close() {
          await platform.destroy()
          await lock[Symbol.asyncDispose]()
          await engine.close()
        },
      }
    } catch (error) {
      await lock[Symbol.asyncDispose]()
      throw error
    }
  } catch (error) {
    await engine.close()
    throw error
  }
}

/** Returns the address without user name, password and options, which do not locate the data. */
export function databaseName(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url)
  return `postgres://${hostname || searchParams.get('host')}:${port || 5432}${pathname}`
}

/** Returns a queue that cannot listen: listeners count as services, and here wake-ups are only stored. */
function deaf({ executeSql }: Pick<QueueDatabase, 'executeSql'>): QueueDatabase {
  return { executeSql, listen: async () => ({ close: async () => {} }) }
}

async function storedAgents(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select substr(nspname, 7) as name from pg_namespace where starts_with(nspname, 'agent_') order by nspname`,
  )
  return rows.map(({ name }) => name)
}
