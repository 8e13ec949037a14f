import { expect, onTestFinished, test } from 'vitest'
import { addSource } from '#test/support/chunk-rows.ts'
import { createTestDatabase, queryDatabase } from '#test/support/postgres/databases.ts'
import { openPostgresStorage } from '#test/support/postgres/storage.ts'
import { searchEngine as engine } from '../search-engine.ts'

async function openDatabase() {
  const database = await createTestDatabase()
  if (database === undefined) throw new Error('this test needs a server')
  onTestFinished(database.remove)
  const { url } = database
  return { url, name: new URL(url).pathname.slice(1), server: new URL('/postgres', url).href }
}

/** Adds the next chunk of the agent, and counts those that hold the words. */
async function addAndCount(url: string, text: string, ...words: string[]): Promise<number[]> {
  const { addAgent, agentDatabases, close } = await openPostgresStorage(url)
  await addAgent('a')
  const counts = await agentDatabases.use('a', async ({ db }) => {
    await addSource(db, text)
    const chunk = { id: text, source_id: text, document: '', content: text, start_offset: 0, end_offset: 0 }
    const { sequence } = await db
      .insertInto('chunks')
      .values({ ...chunk, page: null, section: null })
      .returning('sequence')
      .executeTakeFirstOrThrow()
    await engine.writeFullText(db, [{ sequence: sequence, text: text }])
    const { terms } = await engine.countTerms(db, words)
    return words.map(word => terms.get(word) ?? 0)
  })
  await close()
  return counts
}

test('a copy that takes the place of a database gives the same numbers to other chunks', async () => {
  const { url, name, server } = await openDatabase()
  await addAndCount(url, 'tea')
  await queryDatabase(server, `create database ${name}_copy template ${name}`)
  expect(await addAndCount(url, 'cup', 'cup', 'pot')).toEqual([1, 0])
  await queryDatabase(server, `drop database ${name}`)
  await queryDatabase(server, `alter database ${name}_copy rename to ${name}`)
  expect(await addAndCount(url, 'pot', 'cup', 'pot')).toEqual([0, 1])
})
