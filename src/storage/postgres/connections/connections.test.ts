import { sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { createTestDatabase, queryDatabase } from '#test/support/postgres/databases.ts'
import { createEngine } from '../engine.ts'

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

test('a full disk of the server is told as what it is', async () => {
  const { engine } = await openEngine()
  const db = await engine.openPlatform()
  const full = sql`do $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`
  await expect(full.execute(db)).rejects.toMatchObject({ code: 'STORAGE_FULL', status: 507 })
})
