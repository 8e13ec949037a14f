import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { uploadAndProcess } from '#test/support/upload.ts'
import type { SearchResult } from '../knowledge.schema.ts'

/** What the passages of a source name, and by which queries the first of them is found alone, the others below it. */
const groups: [names: string[], ...queries: string[]][] = [
  [['Q-7310/2', 'QA-7310-2', 'R-7310/2', 'Q-7310/21', 'Q-73102'], 'Q-7310/2', 'q-7310/2', 'Q‑7310/2'],
  [['QA-7310-2', 'Q-7310/2'], 'QA-7310-2', 'Which price has QA-7310-2?', 'QA 7310 2', 'QA73102'],
  [['LM-317T', 'LM-317', 'LM-337T', 'KLM-317T'], 'LM-317T', 'lm-317t', 'LM317T', 'LM 317T'],
  [['BX55', 'BX-56', 'CX55'], 'BX55', 'BX-55', 'BX 55', 'price of bx-55'],
  [['DR 900', 'DR 901', 'SR 900'], 'DR900', 'DR-900', 'dr 900'],
  [
    ['version 3.4', 'version 3.40', 'version 4.3', 'version 34'],
    'version 3.4',
    'Is version 3.4 new?',
    'v 3.4',
  ],
  [['12/2024', '2024/12', '12/2023'], '12/2024'],
  [['IS-21', 'HR-21', 'GIS-21', 'IS-12'], 'IS-21', 'Where is the form IS-21?'],
  [['WHO guideline', 'EU guideline', 'state guideline'], 'WHO guideline', 'the WHO guideline on water'],
  [['OR gate', 'AND gate', 'NOT gate'], 'OR gate', 'How does an OR gate work?'],
  [
    ['hepatitis B', 'hepatitis A', 'hepatitis C'],
    'hepatitis B',
    'hepatitis b',
    'a vaccine against hepatitis B',
  ],
  [
    ['influenza A', 'influenza B'],
    'influenza A',
    'influenza a',
    'What do we know about influenza A in children?',
  ],
  [['type I error', 'type II error'], 'type I error'],
  [['vitamin D', 'vitamin C', 'vitamin B'], 'vitamin D', 'vitamin d dose'],
  [['F# course', 'F course', 'F++ course'], 'F# course', 'f# course'],
  [['R course', 'R++ course'], 'R course'],
  [['C course', 'C++ course', 'C# course'], 'C course', 'c course'],
  [['Notepad++', 'Notepad'], 'Notepad++'],
  [['USB-C plug', 'USB-B plug', 'USB-A plug'], 'USB-C plug', 'usb-c plug'],
  [['USB-A plug', 'USB-B plug'], 'USB-A plug'],
  [['I/O error', 'A/O error'], 'I/O error'],
  [['B&O radio', 'B&W radio'], 'B&O radio'],
  [['.NET course', 'NET course', 'ASP.NET course'], '.NET course', '.net course'],
  [['Annex A', 'Annex B', 'Annex C'], 'Annex A', 'annex a', 'What stands in annex A?'],
  [['10.0.0.1', '10.0.0.10', '110.0.0.1'], '10.0.0.1'],
  [['ISO 9001:2015', 'ISO 9001:2008'], 'ISO 9001:2015'],
  [['vitamin B12', 'vitamin B6', 'vitamin D12'], 'vitamin B12', 'vitamin B-12'],
  [['2024-01-15T10:00:00Z', '2024-01-16T10:00:00Z'], '15 January 2024'],
  [
    ['17 August 2023', '17 August 2022', '8 July 2023'],
    '17.08.2023',
    '2023-08-17',
    'August 17, 2023',
    '17. August 2023',
    '17/8/23',
  ],
  [
    ['2021-12-05', '2021-12-06', '2021-05-11'],
    '5 December 2021',
    '5. Dezember 2021',
    'Dec 5, 2021',
    '05.12.2021',
    '5 de diciembre de 2021',
  ],
  [['am 3. März 2020', 'am 3. Mai 2020'], '2020-03-03', '3 March 2020', '03/03/2020'],
  [['4,310.75 EUR', '4,301.75 EUR', '4,310.57 EUR'], '4310.75', '4.310,75', '4310,75 EUR'],
  [['call 555-2368', 'call 555-2386'], '5552368', '555 2368'],
  [
    ['the door of the green house', 'the green door of the house'],
    '"green house"',
    '“green house” door',
    '„door of the green house“',
  ],
  [['not for sale', 'for sale, not for rent'], '"not for sale"', '«not for sale»'],
]

let app: TestApp
const sources = new Map<string[], string>()

beforeAll(async () => {
  app = await buildApp({ environment: { RATE_LIMIT_GENERAL: '0' } })
  for (const [names] of groups) {
    // The expected one stands in the middle, so that an order by place does not pass.
    const texts = [...names.slice(1, 2), names[0], ...names.slice(2)].map(
      (name, at) => `# Sheet ${at}\n\nThis sheet tells about ${name} in full.`,
    )
    const fields = { chunk_size: '100', overlap: '10' }
    sources.set(
      names,
      await uploadAndProcess(app, { name: 'sheets.md', content: texts.join('\n\n'), fields }),
    )
  }
})

afterAll(() => app.close())

async function search(query: string, sourceId = ''): Promise<SearchResult[]> {
  const asked = new URLSearchParams({ query, ...(sourceId !== '' && { source_id: sourceId }) })
  const { body } = await app.call<{ results: SearchResult[] }>(
    'GET',
    `/api/agents/default/sources/search?${asked}`,
  )
  return body.results
}

test.each(groups.flatMap(([names, ...queries]) => queries.map(query => [query, names] as const)))(
  'the query %s finds %j first and alone',
  async (query, names) => {
    const [first, second] = await search(query, sources.get(names))
    expect(first?.content).toContain(`about ${names[0]} in full`)
    expect(second?.score ?? 0).toBeLessThan(first?.score ?? 0)
  },
)

test('a code is found among many with the same parts, and results have one order', async () => {
  const codes = Array.from({ length: 400 }, (_, at) => `ZT-${1000 + (at % 20)}/${Math.floor(at / 20)}`)
  const content = codes.map(code => `The valve ${code} closes at the pressure of its plate.`).join('\n\n')
  const id = await uploadAndProcess(app, {
    name: 'valves.txt',
    content,
    fields: { chunk_size: '100', overlap: '0' },
  })
  const queries = ['ZT-1007/13', 'pressure of the valve ZT1007/13', 'ZT 1007 13', 'the valve closes']
  const found = await Promise.all(queries.map(query => search(query, id)))
  for (const [first] of found.slice(0, 3)) expect(first?.content).toContain('ZT-1007/13 ')
  const again = await Promise.all(queries.map(query => search(query, id)))
  expect(again).toEqual(found)
})
