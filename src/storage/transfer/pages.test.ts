import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { openStorage } from '#test/support/storage.ts'
import type { Row } from './digest.ts'
import { readPages } from './pages.ts'
import type { AnyDatabase } from './storage-end.ts'

async function tableOf(rows: Row[]) {
  const { platform, addAgent } = await openStorage()
  const db = platform as unknown as AnyDatabase
  const agents = new Set(rows.map(row => String(row.agent_id)))
  for (const agent of agents) await addAgent(agent)
  for (let start = 0; start < rows.length; start += 100)
    await db
      .insertInto('agent_credentials')
      .values(rows.slice(start, start + 100))
      .execute()
  return async (where?: ReturnType<typeof sql>) => {
    const columns = ['agent_id', 'name', 'sealed']
    const selection = { table: 'agent_credentials', columns, key: ['agent_id', 'name'] as [string, string] }
    return await Array.fromAsync(readPages(db, { ...selection, where }))
  }
}

const credential = (agent: string, number: number, sealed = 'x') => ({
  agent_id: agent,
  name: `name-${String(number).padStart(5, '0')}`,
  sealed,
})

describe('pages', () => {
  test('bring each row once, in the order of a key of several columns', async () => {
    const rows = ['a', 'b'].flatMap(agent =>
      Array.from({ length: 600 }, (_, index) => credential(agent, index)),
    )
    const read = await tableOf(rows.toReversed())
    const pages = await read()
    expect(pages.flat()).toEqual(rows)
    expect(pages.map(page => page.length)).toEqual([500, 500, 200])
  })

  test('hold only some megabytes, however large the rows are', async () => {
    const rows = Array.from({ length: 6 }, (_, index) => credential('a', index, 'x'.repeat(3_000_000)))
    const pages = await (await tableOf(rows))()
    expect(pages.map(page => page.length)).toEqual([2, 2, 2])
    expect(pages.flat()).toEqual(rows)
  })

  test('of a selection hold nothing else, and of nothing there are none', async () => {
    const read = await tableOf([credential('a', 1), credential('b', 1)])
    expect(await read(sql`agent_id = ${'b'}`)).toEqual([[credential('b', 1)]])
    expect(await read(sql`agent_id = ${'c'}`)).toEqual([])
  })
})
