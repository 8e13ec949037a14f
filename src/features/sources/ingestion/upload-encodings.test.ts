import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import type { SearchResult } from '#features/knowledge/knowledge.schema.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { makeEastAsianPdf } from '#test/support/documents.ts'
import { legacyTexts } from '#test/support/legacy-texts.ts'
import { uploadAndProcess } from '#test/support/upload.ts'

let app: TestApp

beforeAll(async () => {
  app = await buildApp()
})

afterAll(() => app.close())

/** What is found of one file. */
async function found(id: string, query: string): Promise<string[]> {
  const path = `/api/agents/default/sources/search?source_id=${id}&query=${encodeURIComponent(query)}`
  return (await app.call<{ results: SearchResult[] }>('GET', path)).body.results.map(({ content }) => content)
}

describe('a file that was written before UTF-8', () => {
  it.each(legacyTexts)('is read in $encoding', async ({ text, word, bytes }) => {
    const id = await uploadAndProcess(app, { name: 'lighthouse.txt', content: bytes })
    expect(await found(id, word)).toEqual([text])
  })

  it.each(legacyTexts)('is read in $encoding as a table and as Markdown', async ({ text, word, bytes }) => {
    const table = Buffer.concat([Buffer.from('id;note\n1;'), bytes, Buffer.from('\n')])
    const csv = await uploadAndProcess(app, { name: 'lighthouse.csv', content: table })
    expect(await found(csv, word)).toEqual([expect.stringContaining(text)])
    const section = Buffer.concat([Buffer.from('# Notes\n\n'), bytes, Buffer.from('\n')])
    const md = await uploadAndProcess(app, { name: 'lighthouse.md', content: section })
    expect(await found(md, word)).toEqual([expect.stringContaining(text)])
  })
})

describe('a PDF that names the map of its text and does not hold it', () => {
  test.each([
    ['shift_jis', '90ms-RKSJ-H', 'Japan1'],
    ['euc-jp', 'EUC-H', 'Japan1'],
    ['gb18030', 'GBK-EUC-H', 'GB1'],
    ['big5', 'ETen-B5-H', 'CNS1'],
    ['euc-kr', 'KSCms-UHC-H', 'Korea1'],
  ])('in %s is found: %s', async (encoding, map, collection) => {
    for (const { bytes, text, word } of legacyTexts.filter(legacy => legacy.encoding === encoding)) {
      const id = await uploadAndProcess(app, {
        name: 'lighthouse.pdf',
        content: makeEastAsianPdf(map, collection, bytes),
      })
      expect(await found(id, word)).toEqual([text])
    }
    expect.hasAssertions()
  })

  test('in JIS without an escape is found', async () => {
    const content = makeEastAsianPdf('H', 'Japan1', Buffer.from('457442662472382b2473', 'hex'))
    const id = await uploadAndProcess(app, { name: 'lighthouse.pdf', content })
    expect(await found(id, '灯台')).toEqual(['灯台を見ん'])
  })

  test.each([
    ['UniGB-UCS2-H', 'GB1', '灯塔的光 Licht 25', '灯塔'],
    ['UniJIS-UTF16-H', 'Japan1', '灯台の光 Licht 25', '灯台'],
    ['UniJIS-UCS2-V', 'Japan1', '灯台の光が消える', '灯台'],
    ['UniKS-UCS2-H', 'Korea1', '등대의 빛 Licht 25', '등대의'],
    ['UniCNS-UTF32-H', 'CNS1', '燈塔的光 Licht 25', '燈塔'],
  ])('in Unicode is found: %s', async (map, collection, text, word) => {
    const content = makeEastAsianPdf(map, collection, utf16Or32(text, map))
    const id = await uploadAndProcess(app, { name: 'lighthouse.pdf', content })
    expect(await found(id, word)).toEqual([text])
  })
})

/** Big-endian, as PDFs hold it. */
function utf16Or32(text: string, map: string): Uint8Array {
  const utf16 = [...Buffer.from(text, 'utf16le').swap16()]
  if (!map.includes('UTF32')) return Uint8Array.from(utf16)
  return Uint8Array.from(utf16.flatMap((byte, index) => (index % 2 === 0 ? [0, 0, byte] : [byte])))
}
