import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { VectorSpace } from '#storage/search/search-engine.ts'
import { chunkOf } from '#test/support/chunk-rows.ts'
import type { OnEnd } from '#test/support/databases-on.ts'
import { setSearchStage } from '#test/support/search-stage.ts'

const passages = {
  refunds: 'You may return an item within thirty days. The refund is paid to the card that you paid with.',
  shipping: 'Orders are shipped on the next working day. Shipping within the country is free of charge.',
  warranty: 'The warranty covers defects of the material for two years, but not wear and tear.',
  german: 'Die Kündigungsfrist beträgt drei Monate zum Quartalsende und muss schriftlich eingehalten werden.',
  germanCompound: 'Für Geschirrspülmaschinen gilt eine Herstellergarantie von fünf Jahren ab Lieferung.',
  chinese: '黑豹队的防守只丢了 308 分，在联赛中排名第六，同时也以 24 次拦截领先国家橄榄球联盟。',
  chineseTea: '绿茶和红茶都产自中国，茶叶的采摘从春天开始。',
  arabic: 'تقع العاصمة على ضفاف النهر الكبير، وهي أكبر مدن البلاد من حيث عدد السكان.',
  russian: 'Столица страны расположена на берегу реки и является крупнейшим городом.',
  japanese: '東京都の人口は約千四百万人で、日本の首都です。',
  thai: 'กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย',
}

async function stageWithPassages(onEnd?: OnEnd) {
  const stage = await setSearchStage(onEnd)
  await stage.addSource('manual')
  await stage.replace('manual', Object.values(passages))
  return stage
}

/** For tests that only search. */
let shared: Awaited<ReturnType<typeof stageWithPassages>>
const ends: (() => void | Promise<void>)[] = []

beforeAll(async () => {
  shared = await stageWithPassages(end => ends.unshift(end))
})

afterAll(async () => {
  for (const end of ends) await end()
})

describe('the best result', () => {
  test.each([
    ['a question', 'How do I get my money back? What about refunds?', passages.refunds],
    ['a word in another form', 'ship an order', passages.shipping],
    ['misspelt words', 'waranty deffects', passages.warranty],
    ['words of which none is spelt right', 'shiping', passages.shipping],
    ['German without umlauts', 'kuendigungsfrist kundigungsfrist', passages.german],
    ['a German question', 'Welche Kündigungsfristen gelten?', passages.german],
    ['part of a German compound', 'Spülmaschine Garantie', passages.germanCompound],
    ['a Chinese question', '黑豹队的防守丢了多少分？', passages.chinese],
    ['a single Chinese character', '茶', passages.chineseTea],
    ['Arabic without article, with other letters', 'ما هي عاصمه البلاد؟', passages.arabic],
    ['Arabic with vowels', 'العَاصِمَة', passages.arabic],
    ['Russian', 'столица и город', passages.russian],
    ['Japanese', '日本の首都', passages.japanese],
    ['Thai', 'เมืองหลวงของไทย', passages.thai],
    ['a number', '308', passages.chinese],
    ['upper case', 'REFUND', passages.refunds],
  ])('answers %s', async (_, query, expected) => {
    const { search } = shared
    const [best] = await search(query)
    expect(best?.content).toBe(expected)
  })
})

test('a Japanese passage is not too long beside English ones that hold one word of the query', async () => {
  const { addSource, replace, search } = await setSearchStage()
  const words = (passage: number) =>
    Array.from({ length: 100 }, (_, word) => `w${(passage * 7919 + word * 104_729) % 3000}q`).join(' ')
  const english = Array.from({ length: 400 }, (_, passage) =>
    passage % 8 === 0 ? `${words(passage)} Excel sheets and Excel files.` : words(passage),
  )
  const chapters = Array.from(
    { length: 25 },
    (_, chapter) => `第${chapter}章では、書式の設定、印刷の範囲、共有の方法について詳しく説明しています。`,
  )
  const japanese = ['表計算の手引き。Excelの関数を使うと合計を求められます。', ...chapters].join('')
  await addSource('manual')
  await replace('manual', [...english, japanese])
  const [best] = await search('Excelの関数の使い方')
  expect(best?.content).toBe(japanese)
})

test('a result names its source and its place', async () => {
  const { addSource, write, search } = await setSearchStage()
  await addSource('manual')
  const chunk = { content: 'Press the red button.', page: 7, section: 'Emergency', start: 120, end: 141 }
  await write(async writer => {
    await writer.start('manual')
    await writer.add('manual', [chunk])
    await writer.finish('manual')
  })
  expect(await search('button')).toEqual([
    {
      id: expect.any(String),
      source_id: 'manual',
      content: 'Press the red button.',
      score: expect.any(Number),
      metadata: { source_name: 'manual.txt', page: 7, section: 'Emergency', start: 120, end: 141 },
    },
  ])
})

test('a chunk is found by its heading, which is no part of what is shown', async () => {
  const { addSource, write, search } = await setSearchStage()
  await addSource('manual')
  await write(async writer => {
    await writer.start('manual')
    await writer.add('manual', [{ ...chunkOf('Hold it down for ten seconds.'), section: 'Factory reset' }])
    await writer.finish('manual')
  })
  expect(await search('factory reset')).toMatchObject([{ content: 'Hold it down for ten seconds.' }])
})

describe('scores', () => {
  test('are 0 to 1, never rise, and are high for what fits', async () => {
    const { search } = shared
    const scores = (await search('refund for an item that was shipped')).map(({ score }) => score)
    expect(scores.length).toBeGreaterThan(1)
    expect(scores).toEqual(scores.toSorted((one, other) => other - one))
    expect(scores[0]).toBeGreaterThan(0.5)
    expect(Math.min(...scores)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...scores)).toBeLessThanOrEqual(1)
  })

  test('are lower the less of the query is known', async () => {
    const { search } = shared
    const scoreOf = async (query: string) => (await search(query))[0]?.score ?? 0
    const [all, half, little] = [
      await scoreOf('warranty defects'),
      await scoreOf('warranty xylophone'),
      await scoreOf('warranty xylophone zeppelin quartz'),
    ]
    expect(all).toBeGreaterThan(0.8)
    expect(half).toBeLessThan(all)
    expect(little).toBeLessThan(half)
  })

  test.each(['Who won the chess tournament in Reykjavik?', 'xyzzy', 'Quelle heure est-il à Tokyo ?'])(
    'are low for what has nothing to do with the query: %s',
    async query => {
      const { search } = shared
      expect((await search(query))[0]?.score ?? 0).toBeLessThan(0.2)
    },
  )

  test('are the same after a source has been refreshed several times', async () => {
    const { addSource, replace, search } = await setSearchStage()
    await addSource('manual')
    const texts = Array.from({ length: 30 }, (_, index) =>
      [`Part${index} of the engine`, index % 3 !== 0 && 'takes oil', index === 20 && 'and a gasket']
        .filter(Boolean)
        .join(' '),
    )
    const found = async () => {
      await replace('manual', texts)
      return (await search('engine oil gasket')).map(({ content, score }) => ({ content, score }))
    }
    const first = await found()
    for (let refresh = 1; refresh <= 3; refresh += 1)
      expect(await found()).toEqual(
        first.map(({ content, score }) => ({ content, score: expect.closeTo(score, 5) })),
      )
  })

  test('are of use in a document of a single chunk', async () => {
    const { addSource, replace, search } = await setSearchStage()
    await addSource('note')
    await replace('note', [passages.warranty])
    expect((await search('How long is the warranty?'))[0]?.score).toBeGreaterThan(0.25)
  })
})

describe('filters', () => {
  test('the results are as many as wanted, the best', async () => {
    const { search } = shared
    const all = await search('item order warranty refund')
    expect(await search('item order warranty refund', { limit: 2 })).toEqual(all.slice(0, 2))
  })

  test('a great limit finds everything that fits', async () => {
    const { addSource, replace, search } = await setSearchStage()
    await addSource('list')
    await replace(
      'list',
      Array.from({ length: 150 }, (_, index) => `Entry ${index} about plates`),
    )
    expect(await search('plates', { limit: 1000 })).toHaveLength(150)
  })

  test('a chunk that only its vector finds counts with its score, however many the text finds', async () => {
    const { addSource, replace, search } = await setSearchStage()
    await addSource('manual')
    const filler =
      'The wheels, doors, windows, mirrors, seats, lamps and belts of this car are described here. '
    const holding = (_: unknown, index: number) => `${filler.repeat(4)} Warranty of car${index}.`
    const others = Array.from({ length: 300 }, (_, index) => `Nothing of it stands on page${index}.`)
    await replace('manual', [...Array.from({ length: 120 }, holding), ...others, 'Unwarranty'])
    const [{ score: best } = { score: 1 }] = await search('warranty')
    const minScore = best + 0.1
    const found = await search('warranty', { minScore })
    expect(found).toHaveLength(10)
    expect(found[0]?.score).toBeGreaterThanOrEqual(minScore)
  })

  test('results below the least score are left out', async () => {
    const { search } = shared
    const all = await search('refund for an order')
    const least = all[0]?.score ?? 0
    const kept = await search('refund for an order', { minScore: least })
    expect(kept).toEqual(all.filter(({ score }) => score >= least))
    expect(kept.length).toBeLessThan(all.length)
    expect(await search('refund xylophone', { minScore: 1 })).toEqual([])
  })

  test('of one source only its own chunks are found, however much better others are', async () => {
    const { addSource, replace, search } = await setSearchStage()
    await addSource('one')
    await addSource('other')
    await replace(
      'one',
      Array.from({ length: 120 }, () => 'tea tea tea'),
    )
    await replace('other', ['A word about tea among many others that are of no interest here.'])
    expect(await search('tea', { sourceIds: ['other'] })).toMatchObject([{ source_id: 'other' }])
    expect(await search('teas', { sourceIds: ['other'] })).toHaveLength(1)
    expect(await search('tea', { sourceIds: ['nobody'] })).toEqual([])
  })
})

describe('as good as the same text', () => {
  const copy = `${passages.warranty.toUpperCase()}\n`

  async function stageWithCopies() {
    const stage = await stageWithPassages()
    for (const id of ['copy', 'another']) await stage.addSource(id)
    await stage.replace('copy', [copy, passages.shipping])
    await stage.replace('another', [passages.warranty.replace('two years', '3 years')])
    return stage
  }

  test('is one result, which names the other places', async () => {
    const { search } = await stageWithCopies()
    const [first, ...others] = await search('warranty of two years')
    expect([first?.content, copy]).toContain(passages.warranty)
    const place = { source_name: 'copy.txt', page: null, section: null, start: 0, end: copy.length }
    const ids = [first, ...(first?.metadata.duplicates ?? [])].map(found => found?.source_id)
    expect(ids.toSorted()).toEqual(['copy', 'manual'])
    if (first?.source_id === 'manual')
      expect(first.metadata.duplicates).toEqual([{ id: expect.any(String), source_id: 'copy', ...place }])
    expect(others.map(({ metadata }) => metadata.duplicates)).not.toContainEqual(expect.anything())
    expect(others[0]?.source_id).toBe('another')
  })

  test('does not take the room of others', async () => {
    const { addSource, replace, search } = await stageWithCopies()
    await addSource('copies')
    await replace('copies', Array(60).fill(passages.warranty))
    const results = await search('warranty shipping', { limit: 3 })
    expect(results).toHaveLength(3)
    expect(results.map(({ content }) => content)).toContain(passages.shipping)
  })
})

test('more copies than are looked at first do not hide what else fits', async () => {
  const { addSource, replace, search } = await setSearchStage()
  for (const id of ['copies', 'manual']) await addSource(id)
  await replace('copies', Array(120).fill('Kiosk, kiosk and kiosk.'))
  const other =
    'Of the many things that are sold at the station, newspapers come from a kiosk beside the door.'
  await replace('manual', [other])
  const results = await search('kiosk', { limit: 3 })
  expect(results.map(({ content }) => content)).toContain(other)
  expect(await search('kiosk', { limit: 3, minScore: 1 })).toHaveLength(1)
})

describe('a query', () => {
  test('finds nothing before anything was written', async () => {
    const { search } = await setSearchStage()
    expect(await search('anything')).toEqual([])
  })

  test.each([
    '"',
    '""',
    "'",
    "';drop table chunks;--",
    'refund"',
    'refund" OR "x',
    'terms:refund',
    'NEAR(refund item)',
    'refund*',
    '^refund',
    '-refund',
    '{refund}',
    'refund AND NOT item',
    '(((',
    '\u0000refund',
    'refund\u0000"',
    '\ud800 refund',
    '%',
    '_',
    '🙂',
    '\u202erefund',
  ])('is never more than text: %j', async query => {
    const { search } = shared
    const found = await search(query)
    expect(found[0]?.content).toBe(query.includes('refund') ? passages.refunds : undefined)
  })

  test('may be very long: its beginning and its end are searched for', async () => {
    const { search } = shared
    const filler = Array.from({ length: 40_000 }, (_, index) => `lorem${index}`).join(' ')
    expect(await search(`warranty ${filler} refund`)).toMatchObject([{}, {}])
    expect(await search(`${filler} refund ${filler}`)).toEqual([])
    expect(await search('x'.repeat(1_000_000))).toEqual([])
  })
})

describe("a provider's vectors", () => {
  const space: VectorSpace = { id: 'openai/small', dimensions: 2, form: 'floats' }
  const embedded = (x: number, y: number) => ({ space, vector: Float32Array.of(x, y) })

  async function stageWithVectors() {
    const stage = await setSearchStage()
    await stage.addSource('manual')
    await stage.replace('manual', ['tea', 'coffee', 'cocoa'], {
      space,
      vectors: [Float32Array.of(1, 0), Float32Array.of(0, 1), Float32Array.of(1, 1)],
    })
    return stage
  }

  test('find what shares no word with the query', async () => {
    const { search } = await stageWithVectors()
    const [first, second] = await search('hot beverage', { embedded: embedded(0, 2) })
    expect(first).toMatchObject({ content: 'coffee', score: expect.closeTo(1, 5) })
    expect(second).toMatchObject({ content: 'cocoa', score: expect.closeTo(Math.SQRT1_2, 5) })
  })

  test('are fused with the words', async () => {
    const { search } = await stageWithVectors()
    const contents = async (query: string) =>
      (await search(query, { embedded: embedded(1, 0.9) })).map(({ content }) => content)
    expect((await contents('beverage'))[0]).toBe('cocoa')
    expect((await contents('tea'))[0]).toBe('tea')
  })

  test('search for a query without words, too', async () => {
    const { search } = await stageWithVectors()
    expect((await search('☕', { embedded: embedded(0, 1) }))[0]?.content).toBe('coffee')
  })

  test('of another embedding are not compared: its chunks are found by their words', async () => {
    const { search } = await stageWithVectors()
    const other = { space: { ...space, id: 'openai/other' }, vector: Float32Array.of(0, 1) }
    expect(await search('beverage', { embedded: other })).toEqual([])
    expect(await search('tea', { embedded: other })).toMatchObject([{ content: 'tea' }])
    expect(await search('coffee')).toMatchObject([{ content: 'coffee' }])
  })
})

const fixtures = process.env.REAL_FIXTURES ?? ''

describe.skipIf(fixtures === '')('naughty strings (needs REAL_FIXTURES)', () => {
  test('are all just text', async () => {
    const { search, db } = shared
    const path = join(fixtures, 'security', 'blns.json')
    const strings = JSON.parse(readFileSync(path, 'utf8')) as string[]
    for (const text of strings) expect(Array.isArray(await search(text))).toBe(true)
    const { count } = await db
      .selectFrom('chunks')
      .select(({ fn }) => fn.countAll().as('count'))
      .executeTakeFirstOrThrow()
    expect(count).toBe(Object.keys(passages).length)
  })

  test('can be written and are found again by themselves', async () => {
    const { addSource, replace, search, db } = await setSearchStage()
    const path = join(fixtures, 'security', 'blns.json')
    const strings = (JSON.parse(readFileSync(path, 'utf8')) as string[]).map(text => text.toWellFormed())
    await addSource('naughty')
    expect(await replace('naughty', strings)).toBe(strings.length)
    const chunks = await db.selectFrom('chunks').select(['id', 'content']).execute()
    const contentOf = new Map(chunks.map(({ id, content }) => [id, content]))
    const missed = []
    for (const text of strings) {
      const found = await search(text, { limit: 50 })
      // Many of them say the same words with other signs, and are one result.
      const places = found.flatMap(({ id, metadata }) => [{ id }, ...(metadata.duplicates ?? [])])
      const contents = places.map(({ id }) => contentOf.get(id))
      if (contents.length > 0 && !contents.includes(text)) missed.push(text)
    }
    expect(missed).toEqual([])
  })
})
