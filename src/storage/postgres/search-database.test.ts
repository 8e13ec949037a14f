import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '#test/support/postgres/databases.ts'
import { createEngine } from './engine.ts'
import { openSearchDatabase } from './search-database.ts'

test('agents that take turns at the connection of a search thread each see their own tables', async () => {
  const database = await createTestDatabase()
  if (database === undefined) throw new Error('these tests need a server of PostgreSQL')
  onTestFinished(() => database.remove())
  const engine = createEngine({ url: database.url, maxConnections: 4, onError: () => {} })
  onTestFinished(() => engine.close())
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
