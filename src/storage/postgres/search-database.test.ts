import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '#test/support/postgres/databases.ts'
import { createEngine } from './engine.ts'
import { openSearchDatabase } from './search-database.ts'

async function openEngine() {
  const database = await createTestDatabase()
  if (database === undefined) throw new Error('these tests need a server of PostgreSQL')
  onTestFinished(() => database.remove())
  const engine = createEngine({ url: database.url, maxConnections: 4, onError: () => {} })
  onTestFinished(() => engine.close())
  return engine
}

test('agents that take turns at the connection of a search thread each see their own tables', async () => {
  const engine = await openEngine()
  const paths = new Map<string, string>()
  for (const agentId of ['a', 'b']) {
    const { db, path } = await engine.openAgent(agentId)
    await sql`create table notes as select ${sql.lit(agentId)}::text as note`.execute(db)
    paths.set(agentId, path)
    await db.destroy()
  }
  async function notesOf(agentId: string): Promise<{ note: string }[]> {
    const { db } = await openSearchDatabase(paths.get(agentId) ?? '')
    const notes = db
      .transaction()
      .setAccessMode('read only')
      .execute(async transaction => {
        const { rows } = await sql<{ note: string }>`select note from notes`.execute(transaction)
        return rows
      })
    return await notes.finally(() => db.destroy())
  }
  const turns = ['a', 'a', 'a', 'b', 'a', 'b', 'b', 'a']
  for (const agentId of turns) expect(await notesOf(agentId)).toEqual([{ note: agentId }])
})

test('what a search plans while a table is small is still right when it is large', async () => {
  const engine = await openEngine()
  const { db, path } = await engine.openAgent('a')
  await sql`create table notes (id integer primary key, note text)`.execute(db)
  await sql`insert into notes values (1, 'one')`.execute(db)
  await db.destroy()
  const search = await openSearchDatabase(path)
  onTestFinished(() => search.db.destroy())
  const { rows } = await sql<Record<string, string>>`explain select note from notes where id = 1`.execute(
    search.db,
  )
  expect(rows.map(row => row['QUERY PLAN'])).toEqual([
    expect.stringContaining('Index Scan using notes_pkey'),
    expect.stringContaining('Index Cond'),
  ])
  const { rows: settings } = await sql`show jit`.execute(search.db)
  expect(settings).toEqual([{ jit: 'off' }])
})
