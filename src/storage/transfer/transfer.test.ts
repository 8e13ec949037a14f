import { join } from 'node:path'
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { createSecretBox } from '#platform/encryption/secret-box.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { fillPlace, someKey } from '#test/support/transfer-data.ts'
import type { OpenAgent } from '../engine.ts'
import { openDirectoryEnd } from '../sqlite/transfer/storage-end.ts'
import { readTransfer } from './marker.ts'
import type { StorageEnd } from './storage-end.ts'
import { transfer } from './transfer.ts'

/** Two data directories, of which the first one has the agents `a` and `b`. */
async function openEnds() {
  const [from, to] = [temporaryDirectory(), temporaryDirectory()]
  await fillPlace(from, ['a', 'b'], createSecretBox(someKey()), 100)
  const source = await openDirectoryEnd(from, { mustExist: true })
  onTestFinished(() => source.close())
  const target = await openDirectoryEnd(join(to, 'data'), { mustExist: false })
  onTestFinished(() => target.close())
  return { source, target }
}

function copy(
  ends: { source: StorageEnd; target: StorageEnd },
  say: (line: string) => void = () => {},
): Promise<void> {
  const progress = { say, of: () => () => {} }
  return transfer({ ...ends, agent: null, searchableText: ({ content }) => content, progress })
}

/** The end, whose database of agent `b` suffers something each time it is opened but for the first. */
function damaged(end: StorageEnd, damage: (agent: OpenAgent) => Promise<unknown>): StorageEnd {
  let openings = 0
  async function openAgent(agentId: string) {
    const agent = await end.engine.openAgent(agentId)
    if (agentId === 'b') openings += 1
    if (agentId === 'b' && openings > 1) await damage(agent)
    return agent
  }
  return { ...end, engine: { ...end.engine, openAgent } }
}

test.each<[string, (agent: OpenAgent) => Promise<unknown>]>([
  [
    'messages has 97 rows',
    ({ db }) => db.updateTable('messages').set({ role: '?' }).where('sequence', '=', 5).execute(),
  ],
  ['messages has 97 rows', ({ db }) => db.deleteFrom('messages').where('sequence', '=', 97).execute()],
  ['outbox has 3 rows', ({ db }) => db.deleteFrom('outbox').where('id', '=', 'waits').execute()],
  [
    'chunks has 9 rows',
    ({ db }) => sql`update sqlite_sequence set seq = 9 where name = 'chunks'`.execute(db),
  ],
  ['chunk_vectors_3_', ({ db }) => sql`delete from chunk_vectors_3_1691c0a3a434 where rowid = 6`.execute(db)],
  [
    'chunk_text: the full-text index holds 7',
    ({ db }) => sql`delete from chunk_text where rowid = 6`.execute(db),
  ],
  ['uploads has 3 rows', ({ files }) => files.remove('file-of-manual')],
  ['uploads has 3 rows', ({ files }) => files.write('file-of-manual', Readable.from([Buffer.from('other')]))],
])('a copy that is not the same is an error that names agent and table: %s', async (words, damage) => {
  const { source, target } = await openEnds()
  await expect(copy({ source, target: damaged(target, damage) })).rejects.toThrow(
    new RegExp(`agent b.*table ${words}`),
  )
  expect(await readTransfer(target.platform)).toEqual({ from: source.name, agent: null })
  await copy({ source, target })
  expect(await readTransfer(target.platform)).toBeUndefined()
})

test('a table that nobody has said how to copy is an error', async () => {
  const { source, target } = await openEnds()
  const newer = damaged(source, ({ db }) => sql`create table if not exists notes (id text)`.execute(db))
  await newer.engine.openAgent('b').then(({ db }) => db.destroy())
  await expect(copy({ source: newer, target })).rejects.toThrow(/agent b.*nothing says how to copy: notes/)
})

test('uploads that are not there are counted and named, also where a copy is begun anew', async () => {
  const { source, target } = await openEnds()
  const remove = async (agentId: string, name: string) => {
    const agent = await source.engine.openAgent(agentId)
    await agent.files.remove(name)
    await agent.db.destroy()
  }
  const words = 'uploads that are missing, empty or kept in a bucket'
  await remove('a', 'file-of-manual')
  const first: string[] = []
  const broken = damaged(target, ({ files }) => files.remove('file-of-stories'))
  await expect(copy({ source, target: broken }, line => first.push(line))).rejects.toThrow('agent b')
  expect(first).toContain(`  ${words} (1): file-of-manual`)

  for (const name of ['file-of-manual', 'file-of-stories']) await remove('b', name)
  const again: string[] = []
  await copy({ source, target }, line => again.push(line))
  expect(again.filter(line => line.includes(words) || line.includes('in all'))).toEqual([
    `  ${words} (1): file-of-manual`,
    `  ${words} (2): file-of-manual, file-of-stories`,
    'Uploads in all that were not copied: 3.',
  ])
})
