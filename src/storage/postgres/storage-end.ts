import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { systemClock } from '#platform/clock.ts'
import { createWakeUps } from '#platform/jobs/postgres/wake-ups.ts'
import { createLog } from '#platform/log.ts'
import { openPlatformDatabase } from '../platform-database.ts'
import type { StorageEnd } from '../transfer/storage-end.ts'
import { catalogue } from './catalogue.ts'
import { createEngine } from './engine.ts'
import { searchEngine } from './search-engine.ts'

/** By it the connections of this process are told from those of a service. */
const ownName = 'agentstead-migrate-data'
const serviceName = 'agentstead'
/** Of the lock that only one transfer at a time holds in a database; chosen at random. */
const lockNumber = '7263410985512463'

/** Milliseconds for which connections of a process that has just died are waited for. */
const patience = 5_000
const pause = 200

/**
 * A database, which no other transfer can use until this is closed.
 * @throws Error with a sentence while one does, and where there has to be data and is none.
 */
export async function openDatabaseEnd(
  url: string,
  { mustExist }: { mustExist: boolean },
): Promise<StorageEnd> {
  const name = databaseName(url)
  const ownUrl = withOwnName(url)
  const engine = createEngine({ url: ownUrl, maxConnections: 4, onError: () => {} })
  try {
    if (!(await engine.isUsed()) && mustExist) throw new Error(`there is no data of the service in ${name}.`)
    const own = await takeLock(ownUrl, name)
    try {
      const platform = await openPlatformDatabase(engine)
      return {
        name,
        engine,
        catalogue,
        search: searchEngine,
        platform,
        storedAgents: () => storedAgents(own),
        keyFile: undefined,
        openWakeUps: () =>
          createWakeUps({ database: engine.direct, clock: systemClock, log: createLog('silent') }),
        requireUnused: () => requireNoService(own, name),
        startWith: `Start the service with DATABASE_URL set to the address of ${name}.`,
        async close() {
          await platform.destroy()
          await own.end()
          await engine.close()
        },
      }
    } catch (error) {
      await own.end()
      throw error
    }
  } catch (error) {
    await engine.close()
    throw error
  }
}

/** The address without user name, password and options, which do not say where the data is. */
export function databaseName(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url)
  return `postgres://${hostname || searchParams.get('host')}:${port || 5432}${pathname}`
}

function withOwnName(url: string): string {
  const address = new URL(url)
  address.searchParams.set('application_name', ownName)
  return address.href
}

/** On a connection of its own, with which the lock ends. */
async function takeLock(url: string, name: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  const take = async () => {
    const { rows } = await client.query(`select pg_try_advisory_lock(${lockNumber}) as taken`)
    return rows[0]?.taken === true
  }
  if (await becomesTrue(take)) return client
  await client.end()
  throw new Error(`another transfer is using ${name}. Wait until it has ended.`)
}

async function requireNoService(client: pg.Client, name: string): Promise<void> {
  const isUnused = async () => {
    const { rows } = await client.query(
      'select 1 from pg_stat_activity where datname = current_database() and application_name = $1 limit 1',
      [serviceName],
    )
    return rows.length === 0
  }
  if (!(await becomesTrue(isUnused)))
    throw new Error(`a service is using ${name}. Stop it, and all others on this database.`)
}

async function becomesTrue(ask: () => Promise<boolean>): Promise<boolean> {
  const giveUpAt = performance.now() + patience
  while (!(await ask())) {
    if (performance.now() > giveUpAt) return false
    await delay(pause)
  }
  return true
}

async function storedAgents(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select substr(nspname, 7) as name from pg_namespace where starts_with(nspname, 'agent_') order by nspname`,
  )
  return rows.map(({ name }) => name)
}
