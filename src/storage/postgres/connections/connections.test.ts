import { sql } from 'kysely'
import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { createTestDatabase, queryDatabase } from '#test/support/postgres/databases.ts'
import { startPostgres } from '#test/support/postgres/server.ts'
import { createEngine } from '../engine.ts'
import { createPool, schemaPool } from './connections.ts'

async function openEngine() {
  const database = await createTestDatabase()
  if (database === undefined) throw new Error('these tests need a server of PostgreSQL')
  onTestFinished(() => database.remove())
  const engine = createEngine({ url: database.url, maxConnections: 4, onError: () => {} })
  onTestFinished(() => engine.close())
  /** As a server that restarts, or a network that fails. */
  const cutAll = () =>
    queryDatabase(
      database.url,
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
    )
  return { engine, cutAll }
}

test('a connection that breaks in a transaction fails it, and nothing else', async () => {
  const { engine, cutAll } = await openEngine()
  const db = await engine.openPlatform()
  const transaction = db.transaction().execute(async inside => {
    await sql`select 1`.execute(inside)
    await cutAll()
    // The news of the break arrive on their own.
    await eventually(() => expect(sql`select 1`.execute(inside)).rejects.toThrow())
    await sql`select 1`.execute(inside)
  })
  await expect(transaction).rejects.toThrow()
  expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }])
})

test('what is said on a channel is heard, also after the connection that listens was cut', async () => {
  const { engine, cutAll } = await openEngine()
  const heard: string[] = []
  const onReconnect = vi.fn()
  const listener = await engine.direct.listen('news', payload => heard.push(payload), onReconnect)
  onTestFinished(() => listener.close())
  await engine.direct.executeSql("select pg_notify('news', 'first')")
  await eventually(() => expect(heard).toEqual(['first']))
  expect(onReconnect).toHaveBeenCalledOnce()

  await cutAll()
  await eventually(() => expect(onReconnect).toHaveBeenCalledTimes(2))
  await eventually(() => engine.direct.executeSql("select pg_notify('news', 'second')"))
  await eventually(() => expect(heard).toEqual(['first', 'second']))
})

test('a server that can not be reached is tried again, without failing whoever wants to listen', async () => {
  const errors: Error[] = []
  const engine = createEngine({
    url: 'postgres://nobody@127.0.0.1:1/none',
    maxConnections: 3,
    onError: error => errors.push(error),
  })
  onTestFinished(() => engine.close())
  const listener = await engine.direct.listen(
    'news',
    () => {},
    () => {},
  )
  expect(errors).toHaveLength(1)
  await eventually(() => expect(errors).toHaveLength(2))
  await listener.close()
})

/** A server with few places, and who takes all that are free. */
async function crowdedServer() {
  const server = await startPostgres({ max_connections: '12', superuser_reserved_connections: '0' })
  onTestFinished(() => server.stop())
  const crowd: pg.Client[] = []

  async function takeOne(): Promise<boolean> {
    const client = new pg.Client({ connectionString: server.url })
    client.on('error', () => {})
    const isLetIn = await client.connect().then(
      () => true,
      () => false,
    )
    if (isLetIn) crowd.push(client)
    return isLetIn
  }
  async function crowdIn(): Promise<void> {
    while (await takeOne()) {}
  }
  const leave = () => crowd.pop()?.end()
  onTestFinished(async () => {
    await Promise.all(crowd.map(client => client.end()))
  })
  return { url: server.url, crowdIn, leave }
}

test('while the server has no place for another connection, who needs one waits for those that there are', async () => {
  const { url, crowdIn } = await crowdedServer()
  const engine = createEngine({ url, maxConnections: 9, onError: () => {} })
  onTestFinished(() => engine.close())
  const db = await engine.openPlatform()
  await crowdIn()
  const answers = Array.from({ length: 40 }, (_, number) =>
    sql<{ number: number }>`select ${number}::integer as number, pg_sleep(0.002)`.execute(db),
  )
  const numbers = (await Promise.all(answers)).map(({ rows }) => rows[0]?.number)
  expect(numbers).toEqual(Array.from({ length: 40 }, (_, number) => number))
})

test('a pool without any connection gets one as soon as the server has a place', async () => {
  const { url, crowdIn, leave } = await crowdedServer()
  const pool = createPool(url, { max: 3 }, () => {})
  onTestFinished(() => pool.end())
  await crowdIn()
  const refused = vi.spyOn(pg.Client.prototype, 'connect')
  const answers = [
    pool.query('select 1'),
    pool.query('select 1'),
    pool.query('select 1'),
    pool.query('select 1'),
  ]
  await eventually(() => expect(refused.mock.calls.length).toBeGreaterThanOrEqual(3))
  await leave()
  expect((await Promise.all(answers)).map(({ rowCount }) => rowCount)).toEqual([1, 1, 1, 1])
})

test('a connection ends after 100 changes of schema', async () => {
  const { url } = await crowdedServer()
  const pool = createPool(url, { max: 1 }, () => {})
  onTestFinished(() => pool.end())
  const processes = new Set<number>()
  for (let change = 0; change < 201; change += 1) {
    const client = await schemaPool(pool, `schema ${change}`).connect()
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid', [])
    processes.add(rows[0]?.pid ?? 0)
    client.release()
  }
  expect(processes.size).toBe(3)
})

test('a full disk of the server is told as what it is', async () => {
  const { engine } = await openEngine()
  const db = await engine.openPlatform()
  const full = sql`do $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`
  await expect(full.execute(db)).rejects.toMatchObject({ code: 'STORAGE_FULL', status: 507 })
})
