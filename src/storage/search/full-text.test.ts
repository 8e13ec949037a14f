import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { setEngineStage } from '#test/support/search-stage.ts'
import type { Found, TextQuery } from './search-engine.ts'

async function open(...texts: string[]) {
  const { db, engine } = await setEngineStage()
  for (const [index, text] of texts.entries())
    await engine.writeFullText(db, [{ sequence: index + 1, text: text }])
  const countTerms = (terms: string[]) => engine.countTerms(db, terms)

  async function rank(terms: string[], options: Partial<TextQuery> = {}): Promise<Found[]> {
    return engine.rankByText(db, { ...(await countTerms(terms)), limit: 10, ...options })
  }
  return {
    countTerms,
    rank,
    find: async (...terms: string[]) => (await rank(terms)).map(({ sequence }) => sequence),
    write: (sequence: number, text: string) => engine.writeFullText(db, [{ sequence: sequence, text: text }]),
    remove: (sequence: number) => engine.removeFullText(db, sequence),
  }
}

describe('counting terms', () => {
  test('tells the chunks that hold a term, in any of its English forms, and leaves out unknown terms', async () => {
    const { countTerms } = await open('plate', 'plates and bowls', 'bowl')
    const { terms, chunks } = await countTerms(['plate', 'bowl', 'cup'])
    expect(Object.fromEntries(terms)).toEqual({ plate: 2, bowl: 2 })
    expect(chunks).toBe(3)
  })

  test('follows what is written and removed', async () => {
    const { countTerms, write, remove } = await open('plate', 'plate cup')
    const counts = async () => Object.fromEntries((await countTerms(['plate', 'cup'])).terms)
    expect(await counts()).toEqual({ plate: 2, cup: 1 })
    expect(await counts()).toEqual({ plate: 2, cup: 1 })
    await write(3, 'cups')
    expect(await counts()).toEqual({ plate: 2, cup: 2 })
    await remove(1)
    expect(await counts()).toEqual({ plate: 1, cup: 2 })
  })

  test('takes a term as it is, whatever it means to the query language', async () => {
    const { countTerms } = await open('plate', 'or')
    const hostile = [
      'or',
      'AND',
      'NOT',
      'NEAR',
      '*',
      '"',
      '""',
      'a" OR "b',
      'terms:plate',
      '-plate',
      '(',
      "'",
      ';--',
    ]
    expect(Object.fromEntries((await countTerms(hostile)).terms)).toEqual({
      or: 1,
      '-plate': 1,
    })
  })
})

describe('ranking', () => {
  test('finds chunks with any of the terms, those with rare ones first', async () => {
    const { find } = await open('tea cup', 'tea saucer', 'tea', 'coffee')
    expect(await find('tea', 'saucer')).toEqual([2, 3, 1])
  })

  test('prefers chunks where the term is more of the text', async () => {
    const { find } = await open('tea and a lot of other words that say nothing', 'tea', 'x', 'y', 'z')
    expect(await find('tea')).toEqual([2, 1])
  })

  test('compares letters with marks as they are, and keeps words with vowel signs whole', async () => {
    const { find } = await open('हिन्दी भाषा', 'हि')
    expect(await find('हिन्दी')).toEqual([1])
    expect(await find('हि')).toEqual([2])
  })

  test('gives a chunk of average length that holds every term once the similarity 1, and half of the terms less', async () => {
    const { rank } = await open('tea cup', 'tea mug', 'fork pan', 'jar lid', 'pot rim')
    const [first, second] = await rank(['tea', 'cup'])
    expect(first).toMatchObject({ sequence: 1, similarity: expect.closeTo(1, 5) })
    expect(second?.similarity).toBeLessThan(0.4)
  })

  test('never gives more than 1, however often a term comes', async () => {
    const { rank } = await open('tea tea tea tea', 'x', 'y', 'z')
    expect(await rank(['tea'])).toEqual([{ sequence: 1, similarity: 1 }])
  })

  test('compares lengths with those of the chunks that there are, not with those that were removed', async () => {
    const { rank, write, remove } = await open('tea cup', 'tea with milk', 'jar lid', 'pot rim', 'pan')
    const before = await rank(['tea', 'cup'])
    expect(before[1]?.similarity).toBeGreaterThan(0.1)
    await write(6, 'x '.repeat(1_000))
    await remove(6)
    expect(await rank(['tea', 'cup'])).toEqual(
      before.map(({ sequence, similarity }) => ({ sequence, similarity: expect.closeTo(similarity, 6) })),
    )
  })

  test('keeps to the limit and to the selection', async () => {
    const { rank } = await open('tea', 'tea', 'tea cup')
    expect(await rank(['tea'], { limit: 2 })).toHaveLength(2)
    const within = sql`(values (2), (3), (9))`
    expect((await rank(['tea'], { within })).map(({ sequence }) => sequence)).toEqual([2, 3])
  })

  test('passes over words that most chunks hold where others find enough, in the same order as with them', async () => {
    const texts = Array.from({ length: 40 }, (_, index) => (index % 4 === 0 ? 'flow plate' : 'flow x'))
    const { rank } = await open(...texts, 'plate', 'y')
    const sequences = async (limit: number) =>
      (await rank(['flow', 'plate'], { limit })).map(({ sequence }) => sequence)
    const found = await sequences(11)
    expect(found[0]).toBe(41)
    expect(found).toEqual((await sequences(40)).slice(0, 11))
    expect(await sequences(40)).toHaveLength(40)
  })

  test('gives the same first ones, with the same similarity, as if every chunk were looked at', async () => {
    const texts = Array.from({ length: 45 }, (_, index) =>
      [
        'flow',
        index % 3 === 0 && 'plate',
        index % 5 === 0 && 'wing',
        index % 4 === 0 && 'heat',
        'x'.repeat(index % 7),
      ]
        .filter(Boolean)
        .join(' '),
    )
    const { rank } = await open(...texts)
    const asked = ['plate', 'wing', 'heat']
    const whole = await rank(asked, { limit: 50 })
    for (const limit of [1, 3]) {
      const some = await rank(asked, { limit })
      expect(some.map(({ similarity }) => similarity)).toEqual(
        whole.slice(0, limit).map(({ similarity }) => expect.closeTo(similarity, 6)),
      )
    }
  })

  test('prefers chunks that hold the term more often, as far as four times', async () => {
    const texts = [1, 2, 3, 4].map(count => [...Array(count).fill('tea'), ...Array(8 - count).fill('x')])
    const { find } = await open(...texts.map(words => words.join(' ')), ...Array(8).fill('y'))
    expect(await find('tea')).toEqual([4, 3, 2, 1])
  })

  test('takes texts of many and of endless words', async () => {
    const long = 'ä'.repeat(3_000)
    const many = Array.from({ length: 100_000 }, (_, at) => `word${at}`).join(' ')
    const { find } = await open(long, 'tea', many)
    expect(await find(long)).toEqual([1])
    expect(await find('word30000')).toEqual([3])
  })

  test('finds nothing for no terms', async () => {
    const { find } = await open('tea')
    expect(await find()).toEqual([])
    expect(await find('coffee')).toEqual([])
  })
})

test('what was removed is found no more', async () => {
  const { countTerms, find, remove } = await open('tea', 'tea cup')
  await remove(1)
  expect(await find('tea')).toEqual([2])
  expect((await countTerms([])).chunks).toBe(1)
})
