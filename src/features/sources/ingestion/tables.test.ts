import { expect, onTestFinished, test } from 'vitest'
import type { SearchResult } from '#features/knowledge/knowledge.schema.ts'
import { testApp } from '#test/support/build-app.ts'
import { crawl, forCrawls } from '#test/support/crawl.ts'
import { sitePages, startSite } from '#test/support/site-server.ts'
import { uploadAndProcess } from '#test/support/upload.ts'

const search = '/api/agents/default/sources/search?limit=1&query='

test.each([
  ['row numbers without a name', (row: number) => `${row},Place ${row},${row * 7}`, ',city,2020'],
  ['a title above', (row: number) => `Place ${row};${row * 7}`, 'sep=;\nAll places\n\ncity;2020'],
  ['bars', (row: number) => `Place ${row}|${row * 7}`, 'city|2020'],
])('each passage of a table tells the names of its columns: %s', async (_name, rowOf, head) => {
  const app = await testApp()
  const rows = Array.from({ length: 300 }, (_, row) => rowOf(row))
  await uploadAndProcess(app, { name: 'places.csv', content: [head, ...rows].join('\n') })
  const { results } = (await app.call<{ results: SearchResult[] }>('GET', `${search}299`)).body
  expect(results).toMatchObject([
    { content: expect.stringContaining('Place 299'), metadata: { section: 'city, 2020' } },
  ])
})

test('a cell of a page that reaches over two rows leaves the others in their columns', async () => {
  const app = await testApp({ environment: forCrawls })
  const rows = '<tr><td rowspan="2">France<td>Lyon<td>3<tr><td>Paris<td>4'
  const table = `<table><tr><th>Country<th>City<th>Price${rows}</table>`
  const site = await startSite(sitePages({ '/': `<title>Prices</title><main>${table}</main>` }))
  onTestFinished(() => site[Symbol.asyncDispose]())
  await crawl(app, { url: site.url })
  const { results } = (await app.call<{ results: SearchResult[] }>('GET', `${search}Paris`)).body
  expect(results[0]?.content.split('\n')).toEqual([
    // The title, which the text lacks.
    'Prices',
    '',
    '| Country | City | Price |',
    '| --- | --- | --- |',
    '| France | Lyon | 3   |',
    '|     | Paris | 4   |',
  ])
})
