/** What thousands of agents in one database cost PostgreSQL: counted by the server, so that other work does not matter. */
import { randomBytes } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '#storage/migrate.ts'
import { createEngine } from '#storage/postgres/engine.ts'
import { type AgentTables, agentTables, migrationsOf } from '#storage/tables.ts'
import { makeAgent } from '../support/agents.ts'
import { buildApp, type TestApp } from '../support/build-app.ts'
import { isFullEndurance, scaled } from '../support/endurance.ts'
import { queryDatabase } from '../support/postgres/databases.ts'
import { type PostgresServer, startPostgres } from '../support/postgres/server.ts'
import { uploadAndProcess } from '../support/upload.ts'

const few = 20
const many = scaled(2_000)
/** Further agents whose cost is measured together. */
const sample = 10
/** Agents that are opened at a time. */
const together = 4
/** Some 1 MB for the tables of each agent. */
const maxMemory = 110 * 2 ** 20
/** Ready in a second, where nothing else runs. */
const minUpgraded = 60

let server: PostgresServer
let app: TestApp
let agents: string[] = []

beforeAll(async () => {
  // Without what cleans up, which reads the catalogues by itself.
  server = await startPostgres({ autovacuum: 'off', max_locks_per_transaction: '1024' })
  const encryptionKey = randomBytes(32).toString('base64')
  const environment = { DATABASE_URL: server.url, ENCRYPTION_KEY: encryptionKey }
  app = await buildApp({ environment: { ...environment, DEV_USER: 'owner@localhost.test' } })
})

afterAll(async () => {
  await app.close()
  await server.stop()
  // Some hundred thousand files are removed.
}, 900_000)

const allMigrations = ({ schema }: ReturnType<typeof createEngine>) => migrationsOf(agentTables, schema)

/** Opens all agents in turn, each on one of so many connections. */
async function visitAll(
  connections: number,
  visit: (db: Kysely<AgentTables>, engine: ReturnType<typeof createEngine>) => Promise<void>,
): Promise<void> {
  const engine = createEngine({ url: server.url, maxConnections: connections + 1, onError: () => {} })
  const left = [...agents]
  const go = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const { db } = await engine.openAgent(id)
      await visit(db, engine)
      await db.destroy()
    }
  }
  await Promise.all(Array.from({ length: connections }, go))
  await engine.close()
}

/** Databases as agents have them; the platform does not know them. */
async function makeUpTo(count: number): Promise<void> {
  const known = agents
  agents = Array.from({ length: count - known.length }, (_, index) => `made-${known.length + index}`)
  await visitAll(together, (db, engine) => migrate(db, allMigrations(engine)))
  agents = [...known, ...agents]
}

/** What all connections have read in this database; they tell when they end. */
async function work(): Promise<{ rows: number; pages: number }> {
  const other = new URL(server.url)
  other.pathname = 'template1'
  await queryDatabase(
    other.href,
    "select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = 'postgres'",
  )
  const [row] = await queryDatabase<{ rows: string; pages: string }>(
    other.href,
    "select tup_returned as rows, blks_hit + blks_read as pages from pg_stat_database where datname = 'postgres'",
  )
  return { rows: Number(row?.rows), pages: Number(row?.pages) }
}

/** What the first use of some further agents and an upload to each cost, once the server knows its tables. */
async function costOfFurther(): Promise<{ rows: number; pages: number }> {
  await queryDatabase(server.url, 'vacuum analyze')
  const before = await work()
  for (let number = 0; number < sample; number += 1) {
    const agentId = await makeAgent(app)
    await uploadAndProcess(app, { name: 'notes.txt', content: 'A short text about nothing.', agentId })
  }
  const after = await work()
  return { rows: after.rows - before.rows, pages: after.pages - before.pages }
}

describe(`PostgreSQL with ${many} agents`, () => {
  it('does for a further agent and its upload little more than with 20', async () => {
    await makeUpTo(few)
    // The first ones load what the process needs for all.
    await costOfFurther()
    const withFew = await costOfFurther()
    await makeUpTo(many)
    const withMany = await costOfFurther()
    expect(withMany.rows / withFew.rows).toBeLessThan(1.5)
    expect(withMany.pages / withFew.pages).toBeLessThan(1.5)
  })

  it('holds little memory for a connection that has used all tables of all of them', async () => {
    let most = 0
    await visitAll(1, async db => {
      const { rows: tables } = await sql<{ name: string }>`
        select relname as name from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace
      `.execute(db)
      for (const { name } of tables) await sql`select * from ${sql.table(name)} limit 1`.execute(db)
      const { rows } = await sql<{ bytes: number }>`
        select sum(total_bytes)::bigint as bytes from pg_backend_memory_contexts`.execute(db)
      most = Math.max(most, rows[0]?.bytes ?? 0)
    })
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThan(maxMemory)
  })

  it('makes them ready after an upgrade by one column', async () => {
    const begun = performance.now()
    await visitAll(together, (db, engine) =>
      migrate(db, {
        ...allMigrations(engine),
        '9999-one-column': {
          up: async upgraded => {
            await upgraded.schema.alterTable('sources').addColumn('remark', 'text').execute()
          },
        },
      }),
    )
    const perSecond = (1000 * agents.length) / (performance.now() - begun)
    const columns = await queryDatabase(
      server.url,
      "select attrelid from pg_attribute where attname = 'remark'",
    )
    expect(columns).toHaveLength(agents.length)
    if (isFullEndurance) expect(perSecond).toBeGreaterThanOrEqual(minUpgraded)
  })
})
