import { expect, test } from 'vitest'
import type { Chunk } from '#documents/chunking/chunk-document.ts'
import { randomIds } from '#platform/ids.ts'
import { chunkOf } from '#test/support/chunk-rows.ts'
import { setSearchStage } from '#test/support/search-stage.ts'
import { beginAttempt, continueDraft, hideSource, unsettleDocument } from './generations.ts'
import { createIndexWriter, type IndexWriter } from './index-writer.ts'

const texts = (word: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${word} tea number ${index}`)
const chunksOf = (word: string, count: number): Chunk[] => texts(word, count).map(chunkOf)
const ended = /another attempt/i

/** Two runs of one job, which index the same source. */
async function setTwoAttempts() {
  const stage = await setSearchStage()
  await stage.addSource('manual')
  const stored = async () => {
    const rows = await stage.db.selectFrom('chunks').select('content').orderBy('sequence').execute()
    return rows.map(({ content }) => content)
  }
  return {
    ...stage,
    stored,
    first: <Result>(work: (writer: IndexWriter) => Promise<Result>) => stage.write(work, 'first'),
    second: <Result>(work: (writer: IndexWriter) => Promise<Result>) => stage.write(work, 'second'),
  }
}

test('an attempt that goes on after another has begun changes nothing', async () => {
  const { first, second, stored, search } = await setTwoAttempts()
  await first(async writer => {
    await writer.start('manual')
    await writer.store('manual', chunksOf('first', 3))
  })
  await second(async writer => {
    await writer.start('manual')
    await writer.store('manual', chunksOf('second', 3))
  })
  await first(async writer => {
    await expect(writer.store('manual', chunksOf('first', 2))).rejects.toThrow(ended)
    await expect(writer.index('manual', 10)).rejects.toThrow(ended)
    await expect(writer.complete('manual', 'draft')).rejects.toThrow(ended)
    await expect(writer.finish('manual')).rejects.toThrow(ended)
  })
  await second(async writer => {
    await writer.store('manual', chunksOf('second', 2))
    await writer.complete('manual', 'draft')
    expect(await writer.index('manual', 10)).toBe(5)
    expect(await writer.finish('manual')).toBe(5)
  })
  await expect(first(writer => writer.finish('manual'))).rejects.toThrow(ended)
  const expected = [...texts('second', 3), ...texts('second', 2)]
  expect(await stored()).toEqual(expected)
  const found = (await search('tea')).flatMap(({ content, metadata: { duplicates = [] } }) => [
    content,
    ...duplicates.map(() => content),
  ])
  expect(found.sort()).toEqual(expected.sort())
})

test('one that is in the midst of storing leaves nothing in the draft of the next', async () => {
  const { first, second, stored } = await setTwoAttempts()
  await first(writer => writer.start('manual'))
  const overtaken = first(writer => writer.store('manual', chunksOf('first', 3000))).catch(String)
  await second(async writer => {
    await writer.start('manual')
    await writer.store('manual', chunksOf('second', 100))
    await overtaken
    await writer.index('manual', 100)
    expect(await writer.finish('manual')).toBe(100)
  })
  expect(await stored()).toEqual(texts('second', 100))
})

test('a draft that is continued ends the attempt that made it', async () => {
  const { first, second, db } = await setTwoAttempts()
  await first(async writer => {
    await writer.start('manual')
    await writer.store('manual', chunksOf('first', 5))
    await writer.complete('manual', 'draft')
    await writer.index('manual', 2)
  })
  expect(await continueDraft(db, { sourceId: 'manual', attempt: 'second' }, 'draft')).toBe(true)
  await first(async writer => {
    await expect(writer.index('manual', 3)).rejects.toThrow(ended)
    await expect(writer.finish('manual')).rejects.toThrow(ended)
  })
  await second(async writer => {
    expect(await writer.index('manual', 5)).toBe(3)
    expect(await writer.finish('manual')).toBe(5)
  })
})

test('removal ends the attempts at a source, and its row takes all that is known of its chunks along', async () => {
  const { first, second, db } = await setTwoAttempts()
  await first(writer => writer.start('manual'))
  await hideSource(db, 'manual')
  await expect(first(writer => writer.store('manual', chunksOf('first', 1)))).rejects.toThrow(ended)
  await db.deleteFrom('sources').where('id', '=', 'manual').execute()
  expect(await db.selectFrom('chunk_generations').selectAll().execute()).toEqual([])
  await expect(unsettleDocument(db, { sourceId: 'manual', attempt: 'second' })).rejects.toThrow(
    /foreign key/i,
  )
  await expect(second(writer => writer.start('manual'))).rejects.toThrow(/foreign key/i)
  expect(await db.selectFrom('chunk_generations').selectAll().execute()).toEqual([])
})

test('documents of a source are shown and removed one by one, by the run alone that has taken the source over', async () => {
  const { db, search, stored, write } = await setTwoAttempts()
  const page = <Result>(document: string, attempt: string, work: (writer: IndexWriter) => Promise<Result>) =>
    write((_, own) => work(createIndexWriter({ db: own, ids: randomIds, attempt, document })))
  const put = (word: string) => async (writer: IndexWriter) => {
    await writer.start('manual')
    await writer.add('manual', chunksOf(word, 1))
    return await writer.finish('manual')
  }
  await beginAttempt(db, { sourceId: 'manual', attempt: 'first' })
  expect(await page('a', 'first', put('alder'))).toBe(1)
  expect(await page('b', 'first', put('birch'))).toBe(1)
  expect(await page('a', 'first', put('ash'))).toBe(1)
  expect(await stored()).toEqual(['birch tea number 0', 'ash tea number 0'])

  await beginAttempt(db, { sourceId: 'manual', attempt: 'second' })
  for (const document of ['a', 'c']) await expect(page(document, 'first', put('late'))).rejects.toThrow(ended)
  await expect(page('b', 'first', writer => writer.remove('manual'))).rejects.toThrow(ended)
  await page('b', 'second', writer => writer.remove('manual'))
  expect((await search('tea')).map(({ content }) => content)).toEqual(['ash tea number 0'])
  expect(
    await db.selectFrom('chunk_generations').select(['document', 'settled']).orderBy('document').execute(),
  ).toEqual([
    { document: '', settled: 1 },
    { document: 'a', settled: 1 },
  ])
})
