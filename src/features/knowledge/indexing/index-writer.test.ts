import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { chunkOf } from '#test/support/chunk-rows.ts'
import { setSearchStage } from '#test/support/search-stage.ts'
import { continueDraft, countDraft } from './generations.ts'

const many = (word: string, count = 100) =>
  Array.from({ length: count }, (_, index) => `${word} number ${index}`)

async function stageWith(...sources: string[]) {
  const stage = await setSearchStage()
  for (const source of sources) await stage.addSource(source)
  const contents = async (query: string, options = {}) =>
    (await stage.search(query, options)).map(({ content }) => content)

  /** Numbers of rows in the tables of chunks, full text and vectors, those of fewer vectors first. */
  async function rows(): Promise<number[]> {
    return stage.write(async (_, { db, engine }) => {
      async function count(table: string): Promise<number> {
        const counting = sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`
        return (await counting.execute(db)).rows[0]?.count ?? 0
      }
      const vectors = await Promise.all((await engine.vectorTables(db)).map(count))
      vectors.sort((one, other) => one - other)
      return [await count('chunks'), await count('chunk_text'), ...vectors]
    })
  }
  return { ...stage, contents, rows }
}

describe('writing', () => {
  test('stores a chunk as it is', async () => {
    const { db, write } = await stageWith('manual')
    const chunk = { content: ' Press “OK”.\n', page: 3, section: 'Start', start: 10, end: 23 }
    await write(async writer => {
      await writer.start('manual')
      await writer.add('manual', [chunk])
      expect(await writer.finish('manual')).toBe(1)
    })
    expect(await db.selectFrom('chunks').selectAll().execute()).toEqual([
      {
        sequence: 1,
        id: expect.any(String),
        source_id: 'manual',
        document: '',
        content: ' Press “OK”.\n',
        page: 3,
        section: 'Start',
        start_offset: 10,
        end_offset: 23,
      },
    ])
  })

  test('takes the chunks in several parts', async () => {
    const { write, contents } = await stageWith('manual')
    await write(async writer => {
      await writer.start('manual')
      await writer.add('manual', many('tea', 70).map(chunkOf))
      await writer.add('manual', many('coffee', 30).map(chunkOf))
      expect(await writer.finish('manual')).toBe(100)
    })
    expect(await contents('coffee', { limit: 100 })).toHaveLength(30)
  })

  test('leaves out the vector of a chunk without words', async () => {
    const { replace, rows } = await stageWith('manual')
    expect(await replace('manual', ['tea', '* * *'])).toBe(2)
    expect(await rows()).toEqual([2, 2, 1])
  })

  test('a source may have no chunks at all', async () => {
    const { replace, contents } = await stageWith('manual')
    expect(await replace('manual', [])).toBe(0)
    expect(await replace('manual', ['tea'])).toBe(1)
    expect(await replace('manual', [])).toBe(0)
    expect(await contents('tea')).toEqual([])
  })

  test('refuses chunks of a source that is not there', async () => {
    const { replace } = await stageWith()
    await expect(replace('nobody', ['tea'])).rejects.toThrow(/foreign key/i)
  })
})

describe('replacing', () => {
  test('shows the old chunks until the new ones are complete, then only those', async () => {
    const { replace, write, contents, rows } = await stageWith('manual', 'other')
    await replace('manual', many('old tea'))
    await replace('other', ['tea of another source'])
    // In any order: what is not shown yet counts for how rare a word is.
    const shown = async () => (await contents('tea', { limit: 500 })).toSorted()
    const before = await shown()
    expect(before).toHaveLength(101)

    await write(async writer => {
      await writer.start('manual')
      expect(await shown()).toEqual(before)
      await writer.add('manual', many('new tea', 60).map(chunkOf))
      expect(await shown()).toEqual(before)
      await writer.add('manual', many('newest tea', 60).map(chunkOf))
      expect(await shown()).toEqual(before)
      expect(await contents('tea', { limit: 500, sourceIds: ['manual'] })).toHaveLength(100)
      expect(await writer.finish('manual')).toBe(120)
    })
    expect((await shown()).filter(content => content.startsWith('old'))).toEqual([])
    expect(await shown()).toHaveLength(121)
    expect(await rows()).toEqual([121, 121, 121])
  })

  test('chunks that are not shown yet push nothing out of the results', async () => {
    const { replace, write, contents } = await stageWith('manual', 'new')
    await replace('manual', ['Some words about tea that are longer than those of the others.'])
    await write(async writer => {
      await writer.start('new')
      await writer.add('new', many('tea', 300).map(chunkOf))
    })
    expect(await contents('tea')).toEqual(['Some words about tea that are longer than those of the others.'])
    expect(await contents('teas taes')).toHaveLength(1)
  })

  test('an attempt that died leaves nothing behind', async () => {
    const { replace, write, contents, rows } = await stageWith('manual')
    await replace('manual', ['old tea'])
    await write(async writer => {
      await writer.start('manual')
      await writer.add('manual', many('lost tea').map(chunkOf))
    })
    expect(await contents('tea')).toEqual(['old tea'])
    expect(await replace('manual', ['new tea'])).toBe(1)
    expect(await contents('tea', { limit: 500 })).toEqual(['new tea'])
    expect(await rows()).toEqual([1, 1, 1])
  })

  test('removes the vectors of the embedding that was used before', async () => {
    const { replace, rows } = await stageWith('manual')
    const space = { id: 'openai/small', dimensions: 2, form: 'floats' as const }
    await replace('manual', ['tea', 'coffee'], {
      space,
      vectors: [Float32Array.of(1, 0), Float32Array.of(0, 1)],
    })
    expect(await rows()).toEqual([2, 2, 2])
    await replace('manual', ['tea'])
    expect(await rows()).toEqual([1, 1, 0, 1])
  })
})

describe('a draft', () => {
  const space = { id: 'openai/small', dimensions: 2, form: 'floats' as const }

  test('is indexed part by part, each chunk once, and shown when all of it is', async () => {
    const { write, contents, rows } = await stageWith('manual', 'other')
    await write(async writer => {
      await writer.start('manual')
      await writer.store('manual', many('tea', 100).map(chunkOf))
      expect(await writer.index('manual', 70)).toBe(70)
    })
    expect(await contents('tea', { limit: 500 })).toEqual([])
    await write(async writer => {
      expect(await writer.index('manual', 70)).toBe(30)
      expect(await writer.index('manual', 70)).toBe(0)
      expect(await writer.index('other', 70)).toBe(0)
      expect(await writer.finish('manual')).toBe(100)
    })
    expect(new Set(await contents('tea', { limit: 500 })).size).toBe(100)
    expect(await rows()).toEqual([100, 100, 100])
  })

  test("gets a provider's vectors in the order of its chunks", async () => {
    const { write, contents } = await stageWith('manual')
    const vectors = [0, 1, 2, 3].map(at => Float32Array.of(Math.cos(at / 3), Math.sin(at / 3)))
    await write(async writer => {
      await writer.start('manual')
      await writer.store('manual', ['zero', 'one', 'two', 'three'].map(chunkOf))
      await writer.index('manual', 3, { space, vectors: vectors.slice(0, 3) })
      await writer.index('manual', 1, { space, vectors: vectors.slice(3) })
      await writer.finish('manual')
    })
    const nearest = (at: number) =>
      contents('number', { limit: 1, embedded: { space, vector: vectors[at] as Float32Array } })
    expect(await nearest(2)).toEqual(['two'])
    expect(await nearest(3)).toEqual(['three'])
  })

  test('may be continued by its name only, and only until it is shown', async () => {
    const { write, db, attempt } = await stageWith('manual')
    const isThere = (draft: string) => continueDraft(db, { sourceId: 'manual', attempt }, draft)
    await write(async writer => {
      await writer.start('manual')
      await writer.store('manual', [chunkOf('tea'), chunkOf('milk')])
      expect(await isThere('first')).toBe(false)
      await writer.complete('manual', 'first')
      await writer.index('manual', 1)
    })
    expect(await isThere('first')).toBe(true)
    expect(await isThere('second')).toBe(false)
    expect(await countDraft(db, { sourceId: 'manual' })).toEqual({ stored: 2, indexed: 1 })
    await write(writer => writer.finish('manual'))
    expect(await isThere('first')).toBe(false)
    expect(await countDraft(db, { sourceId: 'manual' })).toEqual({ stored: 0, indexed: 0 })
  })

  test('ends with the next one, and with the removal of its source', async () => {
    const { write, db, attempt } = await stageWith('manual')
    for (const end of ['start', 'remove'] as const)
      await write(async writer => {
        await writer.start('manual')
        await writer.complete('manual', 'first')
        await writer[end]('manual')
        expect(await continueDraft(db, { sourceId: 'manual', attempt }, 'first')).toBe(false)
      })
  })
})

describe('removing', () => {
  test('takes the chunks of one source and leaves those of others', async () => {
    const { replace, write, contents, rows, db } = await stageWith('manual', 'other')
    await replace('manual', many('tea'))
    await replace('other', ['other tea'])
    await write(writer => writer.remove('manual'))
    expect(await contents('tea')).toEqual(['other tea'])
    expect(await rows()).toEqual([1, 1, 1])
    await db.deleteFrom('sources').where('id', '=', 'manual').execute()
  })

  test('takes what was written but never shown', async () => {
    const { write, rows } = await stageWith('manual')
    await write(async writer => {
      await writer.start('manual')
      await writer.add('manual', [chunkOf('tea')])
      await writer.remove('manual')
    })
    expect(await rows()).toEqual([0, 0, 0])
  })

  test('is fine for a source without chunks, even the first of all', async () => {
    const { write, contents } = await stageWith('manual')
    await write(writer => writer.remove('manual'))
    expect(await contents('tea')).toEqual([])
  })

  test('leaves a source that can be written again', async () => {
    const { replace, write, contents } = await stageWith('manual')
    await replace('manual', ['old tea'])
    await write(writer => writer.remove('manual'))
    await replace('manual', ['new tea'])
    expect(await contents('tea')).toEqual(['new tea'])
  })
})

test('two sources are written at the same time without disturbing one another', async () => {
  const { replace, contents, rows } = await stageWith('one', 'two')
  await Promise.all([replace('one', many('tea')), replace('two', many('coffee'))])
  expect(await contents('tea', { limit: 500 })).toHaveLength(100)
  expect(await contents('coffee', { limit: 500, sourceIds: ['two'] })).toHaveLength(100)
  expect(await rows()).toEqual([200, 200, 200])
})
