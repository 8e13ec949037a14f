/** The lock that keeps services apart from commands that need a database to themselves. */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { AppError } from '#platform/errors.ts'

/** The number of the lock, chosen at random. */
const lockNumber = '7263410985512463'

/** The time limit of connecting (ms). */
const connectTimeout = 10_000
/** Max wait for the end of a process that has just died, with its pauses. */
const timeout = 5_000
const pause = 200

interface HeldData extends AsyncDisposable {
  client: pg.Client
  /** @throws Error when the lock was lost meanwhile, with its connection. */
  requireHeld(): Promise<void>
}

/**
 * Takes the shared lock until the connection ends: others can share the data, but not have it exclusively.
 * @throws AppError `INTERNAL_ERROR` with a sentence while another process has it exclusively.
 */
export async function shareData(client: pg.Client): Promise<void> {
  if (await isTaken(client, 'pg_try_advisory_lock_shared')) return
  throw new AppError(
    'INTERNAL_ERROR',
    'The data in this database is being moved, or gets another key: npm run migrate-data or npm run rotate-key is ' +
      'using it. Start the service when that has ended.',
  )
}

/** Takes the shared lock on a connection of its own. */
export async function connectToShare(url: string): Promise<AsyncDisposable> {
  const { client, ...connection } = await connect(url)
  try {
    await shareData(client)
    return connection
  } catch (error) {
    await client.end()
    throw error
  }
}

/**
 * Takes the exclusive lock, on a connection of its own.
 * @param name the database's name for people.
 * @throws Error with a sentence for the operator while others use it.
 */
export async function claimData(url: string, name: string): Promise<HeldData> {
  const connection = await connect(url)
  const { client } = connection
  try {
    if (!(await becomesTrue(() => isTaken(client, 'pg_try_advisory_lock'))))
      throw new Error(
        `a service, or another command, is using ${name}. Stop all services on this database, and wait until no ` +
          'npm run migrate-data or rotate-key is running there.',
      )
  } catch (error) {
    await client.end()
    throw error
  }
  return {
    ...connection,
    async requireHeld() {
      await client.query('select 1').catch(error => {
        throw new Error(
          `the connection that kept services away from ${name} broke meanwhile. Run the command again.`,
          { cause: error },
        )
      })
    },
  }
}

async function connect(url: string) {
  const client = new pg.Client({
    connectionString: url,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeout,
  })
  // The next statement reports the error.
  client.on('error', () => {})
  await client.connect()
  return { client, [Symbol.asyncDispose]: () => client.end() }
}

type Take = 'pg_try_advisory_lock' | 'pg_try_advisory_lock_shared'

async function isTaken(client: pg.Client, take: Take): Promise<boolean> {
  const { rows } = await client.query(`select ${take}(${lockNumber}) as taken`)
  return rows[0]?.taken === true
}

async function becomesTrue(check: () => Promise<boolean>): Promise<boolean> {
  const giveUpAt = performance.now() + timeout
  while (!(await check())) {
    if (performance.now() > giveUpAt) return false
    await delay(pause)
  }
  return true
}
