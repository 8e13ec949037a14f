/** What an agent costs the server in a database that holds many others. */
import { randomBytes } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { testApp } from '#test/support/build-app.ts'
import { queryDatabase } from '#test/support/postgres/databases.ts'
import { addSchemas } from '#test/support/postgres/many-schemas.ts'
import { startPostgres } from '#test/support/postgres/server.ts'
import { execute } from '#test/support/sql-stage.ts'
import { uploadAndProcess } from '#test/support/upload.ts'

/** Without what cleans up, which reads the catalogues by itself. */
async function quietServer() {
  const server = await startPostgres({ autovacuum: 'off' })
  onTestFinished(() => server.stop())
  const other = new URL(server.url)
  other.pathname = 'template1'

  /** Rows that all connections have read, with those of the catalogues; they tell when they end. */
  async function rowsRead(): Promise<number> {
    await queryDatabase(
      other.href,
      "select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = 'postgres'",
    )
    const [row] = await queryDatabase<{ rows: string }>(
      other.href,
      "select tup_returned as rows from pg_stat_database where datname = 'postgres'",
    )
    return Number(row?.rows)
  }
  return { url: server.url, rowsRead }
}

/** Of all services on one database, which need the same key. */
function environmentFor(url: string): Record<string, string> {
  const encryptionKey = randomBytes(32).toString('base64')
  return { DATABASE_URL: url, ENCRYPTION_KEY: encryptionKey, DEV_USER: 'owner@localhost.test' }
}

it('what asks the catalogues reads as much of them with many agents as with few', async () => {
  const { url, rowsRead } = await quietServer()
  const environment = environmentFor(url)

  /** Everything that asks the catalogues, on a new agent and new connections; what that has read. */
  async function useNewAgent(): Promise<number> {
    const app = await testApp({ environment })
    const before = await rowsRead()
    const id = await makeAgent(app)
    const source = await uploadAndProcess(app, { name: 'a.txt', content: 'A short text.', agentId: id })
    expect((await app.call('GET', `/api/agents/${id}/sql/schema`)).status).toBe(200)
    for (const query of ['SELECT 1', 'PRAGMA table_list', 'PRAGMA page_count', 'PRAGMA table_info(sources)'])
      expect((await execute(app, query, [], id)).status).toBe(200)
    expect((await app.call('DELETE', `/api/agents/${id}/sources/${source}`)).status).toBe(200)
    await app.service.infrastructure.runner.idle()
    await app.close()
    return (await rowsRead()) - before
  }

  // The first start makes the platform's tables.
  await useNewAgent()
  const withFew = await useNewAgent()
  await addSchemas(url, 'agent_default', 100)
  expect((await useNewAgent()) / withFew).toBeLessThan(1.5)
})

it('the start warns when pg_dump would need more locks than the server has room for, and says what to set', async () => {
  const server = await startPostgres({ max_connections: '30', max_locks_per_transaction: '10' })
  onTestFinished(() => server.stop())
  const environment = environmentFor(server.url)
  const warnings = async () => {
    const app = await testApp({ environment })
    await app.call('GET', '/api/agents/default')
    await app.close()
    return app.logged.filter(line => line.includes('max_locks_per_transaction'))
  }

  expect(await warnings()).toEqual([])
  await addSchemas(server.url, 'agent_default', 20)
  const [line = '', ...others] = await warnings()
  expect(others).toEqual([])
  const [, tables = '', locks, advice] =
    /has (\d+) tables, .* room for (\d+) locks, .* set max_locks_per_transaction to (\d+)/.exec(line) ?? []
  expect(Number(locks)).toBe(300)
  expect(Number(tables)).toBeGreaterThan(300)
  // Room for twice as many.
  expect(Number(advice)).toBe(Math.ceil((2 * Number(tables)) / 30))
})
