import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { uploadAndProcess } from '#test/support/upload.ts'
import type { SearchResult } from '../knowledge.schema.ts'

/** What a text is asked for by, letters and line breaks aside: no word of a query stands in another text. */
const spellings = [
  ['a soft hyphen', 'Das Wohn\u00adgeld kommt vom Amt.', 'Wohngeld'],
  [
    'a byte order mark or a joiner inside a word',
    'A wall\ufeffpaper and a wind\u2060mill.',
    'wallpaper windmill',
  ],
  ['a hyphen at the end of a line', 'Plants live by photosyn-\nthesis alone.', 'photosynthesis'],
  ['a soft hyphen at the end of a line', 'Die Donau\u00ad\n  dampfschiffe fahren.', 'Donaudampfschiffe'],
  ['Polish letters', 'Z Wrocławia na południe.', 'wroclawia poludnie'],
  ['Polish letters in the query alone', 'Lodz, the third city by size.', 'Łódź'],
  ['capitals of Turkish in the query', 'Iğdır ilinde kayısı yetişir.', 'IĞDIR KAYISI'],
  ['capitals of Turkish in the text', 'ISPARTA GÜL YAĞI.', 'ısparta yağı'],
  ['Danish letters', 'Smørrebrød på Ærø.', 'smorrebrod aero'],
  ['Vietnamese letters', 'Đường phố của Đà Nẵng.', 'duong da nang'],
  ['French ligatures', 'Le cœur et les œuvres.', 'coeur oeuvres'],
  ['Icelandic letters in a German text', 'Die Reise ist nach Þórshöfn und nicht zu weit.', 'thorshofn'],
] as const

let app: TestApp

beforeAll(async () => {
  app = await buildApp()
  for (const [name, content] of spellings) await uploadAndProcess(app, { name: `${name}.txt`, content })
})

afterAll(() => app.close())

test.each(spellings)('%s', async (_name, content, query) => {
  const path = `/api/agents/default/sources/search?min_score=0.6&query=${encodeURIComponent(query)}`
  const { results } = (await app.call<{ results: SearchResult[] }>('GET', path)).body
  expect(results.map(({ content: found }) => found)).toEqual([content])
})

test.each(['wroclawia', 'aero'])('the built-in model quotes what %s finds', async content => {
  const { body } = await app.call('POST', '/api/agents/default/chat', { body: { content } })
  const quote = content === 'aero' ? 'på Ærø' : 'Z Wrocławia'
  expect(body).toMatchObject({ assistantMessage: { content: expect.stringContaining(quote) } })
})
