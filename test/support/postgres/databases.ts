/** Databases of their own for tests, on the server that the project's setup provides. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { systemClock } from '#platform/clock.ts'
import { createWakeUps } from '#platform/jobs/postgres/wake-ups.ts'
import { createLog } from '#platform/logging/log.ts'
import { createAgentDatabases } from '#storage/agent-databases.ts'
import { openPlatformDatabase } from '#storage/platform-database.ts'
import { createEngine } from '#storage/postgres/engine.ts'
import { agentRows } from '../agent-rows.ts'

type Engine = ReturnType<typeof createEngine>

const prefix = 'agentstead_test_'
/** Databases that tests get copies of, which take less time than to make one anew. */
const templates = {
  /** With the newest platform schema. */
  platform: `${prefix}template_platform`,
  /** And with the queue and the schema of the agent `default`, which a service makes when it first needs them. */
  service: `${prefix}template_service`,
}

/** Makes what the databases of tests are copied from; the function that is returned removes it, and all that tests have left. */
export async function prepareDatabases(serverUrl: string): Promise<() => Promise<void>> {
  await removeAll(serverUrl)
  await queryDatabase(serverUrl, `create database ${templates.platform}`)
  await prepare(withDatabase(serverUrl, templates.platform), async engine => {
    const platform = await openPlatformDatabase(engine)
    await platform.destroy()
  })
  await queryDatabase(serverUrl, `create database ${templates.service} template ${templates.platform}`)
  await prepare(withDatabase(serverUrl, templates.service), async engine => {
    const log = createLog('silent')
    const wakeUps = await createWakeUps({ database: engine.direct, clock: systemClock, log })
    for (const each of Object.values(wakeUps)) await each.stop()
    const platform = await openPlatformDatabase(engine)
    const { addAgent, removeAgentRow } = agentRows(platform)
    await addAgent('default')
    const agentDatabases = createAgentDatabases({ engine, platform, log })
    await agentDatabases.use('default', async () => {})
    await agentDatabases.close()
    await removeAgentRow('default')
    await platform.destroy()
  })
  return () => removeAll(serverUrl)
}

async function prepare(url: string, work: (engine: Engine) => Promise<void>): Promise<void> {
  const engine = createEngine({ url, maxConnections: 3, onError: () => {} })
  await work(engine)
  await engine.close()
}

async function removeAll(serverUrl: string): Promise<void> {
  const rows = await queryDatabase<{ datname: string }>(
    serverUrl,
    `select datname from pg_database where datname like '${prefix}%'`,
  )
  for (const { datname } of rows) await removeDatabase(serverUrl, datname)
}

/** With the roles of its agents, which belong to the server. */
async function removeDatabase(serverUrl: string, name: string): Promise<void> {
  const roles = await queryDatabase<{ rolname: string }>(
    serverUrl,
    `select rolname from pg_roles join pg_database on starts_with(rolname, 'agentstead_sql_' || pg_database.oid || '_')
     where datname = '${name}'`,
  )
  await queryDatabase(serverUrl, `drop database if exists ${name} with (force)`)
  for (const { rolname } of roles) await queryDatabase(serverUrl, `drop role if exists ${rolname}`)
}

export interface TestDatabase {
  url: string
  remove(): Promise<void>
}

/** A new database, empty but for what its template has; undefined where the tests run on the embedded databases. */
export async function createTestDatabase(
  template: keyof typeof templates = 'platform',
): Promise<TestDatabase | undefined> {
  const serverUrl = inject('postgresUrl')
  if (serverUrl === undefined) return undefined
  const name = `${prefix}${randomBytes(6).toString('hex')}`
  await queryDatabase(serverUrl, `create database ${name} template ${templates[template]}`)
  return {
    url: withDatabase(serverUrl, name),
    async remove() {
      await removeDatabase(serverUrl, name)
    },
  }
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = name
  return url.href
}

/** Runs a statement on a connection of its own. */
export async function queryDatabase<Row extends object>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<Row>(statement)
    return rows
  } finally {
    await client.end()
  }
}
