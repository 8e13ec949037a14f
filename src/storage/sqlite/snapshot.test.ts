import { join } from 'node:path'
import type { Kysely, QueryExecutorProvider } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import type { AgentTables } from '../tables.ts'
import { runText } from './run-text.ts'
import { openSearchDatabase } from './search-database.ts'
import { oncePerSnapshot, readSnapshot } from './snapshot.ts'

/** A file with one note, a writer, and a reader that offers snapshots. */
async function openNotes() {
  const path = join(temporaryDirectory(), 'agent.db')
  const open = async (readOnly: boolean) => {
    const { db } = await openSearchDatabase(path, { readOnly })
    onTestFinished(() => db.destroy())
    return db
  }
  const writer = await open(false)
  await runText(writer, 'create table notes (content text)')
  const write = (content: string) => runText(writer, 'insert into notes values (?)', content)
  await write('first')
  return { writer, reader: await open(true), write }
}

async function notes(db: QueryExecutorProvider): Promise<string[]> {
  const rows = await runText<{ content: string }>(db, 'select content from notes order by rowid')
  return rows.map(({ content }) => content)
}

test('a snapshot shows one state, whatever is written meanwhile', async () => {
  const { reader, write } = await openNotes()
  const seen = await readSnapshot(reader, async snapshot => {
    const before = await notes(snapshot)
    await write('second')
    return [before, await notes(snapshot)]
  })
  expect(seen).toEqual([['first'], ['first']])
  expect(await notes(reader)).toEqual(['first', 'second'])
})

test('after a snapshot that failed, the next one shows what was written since', async () => {
  const { reader, write } = await openNotes()
  const failed = readSnapshot(reader, async snapshot => {
    await notes(snapshot)
    throw new Error('changed my mind')
  })
  await expect(failed).rejects.toThrow('changed my mind')
  await write('second')
  expect(await readSnapshot(reader, notes)).toEqual(['first', 'second'])
})

test('what is read once of a snapshot is read anew of the next one, and outside of any', async () => {
  const { writer, reader, write } = await openNotes()
  let reads = 0
  const countNotes = oncePerSnapshot(async db => {
    reads += 1
    return (await notes(db)).length
  })
  const countTwice = async (db: Kysely<AgentTables>) => [await countNotes(db), await countNotes(db)]
  expect(await readSnapshot(reader, countTwice)).toEqual([1, 1])
  expect(reads).toBe(1)
  await write('second')
  expect(await readSnapshot(reader, countTwice)).toEqual([2, 2])
  expect(reads).toBe(2)
  const both = await writer.transaction().execute(async transaction => {
    const before = await countNotes(transaction)
    await runText(transaction, 'insert into notes values (?)', 'third')
    return [before, await countNotes(transaction)]
  })
  expect(both).toEqual([2, 3])
  expect(reads).toBe(4)
})
