import pg from 'pg'
import { migrate } from '#storage/migrate.ts'
import { createEngine as createPostgresEngine } from '#storage/postgres/engine.ts'
import { openDataDirectory } from '#storage/sqlite/connections/data-directory.ts'
import { createEngine as createSqliteEngine } from '#storage/sqlite/engine.ts'
import { agentTables, migrationsOf } from '#storage/tables.ts'
import { makeDataDirectory } from './data-directory.ts'

const name = 'agentstead_benchmark'

/**
 * The address of an empty database on the server of DATABASE_URL, in the place of what the benchmark before left there;
 * undefined where that is not set, which is to measure the embedded databases.
 */
export async function makeDatabase(): Promise<string | undefined> {
  const server = process.env.DATABASE_URL
  if (server === undefined) return undefined
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await client.query(`drop database if exists ${name} with (force)`)
    await client.query(`create database ${name}`)
  } finally {
    await client.end()
  }
  const address = new URL(server)
  address.pathname = name
  return address.href
}

/** Databases of agents for benchmarks that do without the service. */
export async function openAgentDatabases() {
  const url = await makeDatabase()
  const engine =
    url === undefined
      ? createSqliteEngine({
          directory: await openDataDirectory(makeDataDirectory()),
          synchronous: 'normal',
        })
      : createPostgresEngine({ url, maxConnections: 3, onError: error => console.error(error) })
  return {
    /** Where a worker finds the new, empty database of the agent. */
    async make(agentId: string): Promise<string> {
      const { db, path } = await engine.openAgent(agentId)
      await migrate(db, migrationsOf(agentTables, engine.schema))
      await db.destroy()
      return path
    },
    close: () => engine.close(),
  }
}
