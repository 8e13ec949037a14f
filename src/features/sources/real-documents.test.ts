import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestApp } from '#test/support/build-app.ts'
import { buildApp } from '#test/support/build-app.ts'
import { uploadAndProcess } from '#test/support/upload.ts'
import { documentFormatOf } from './parsing/document-format.ts'
import { parseDocument } from './parsing/parse-document.ts'
import type { SearchResult, Source } from './sources.schema.ts'

const fixtures = process.env.REAL_FIXTURES

interface Expected {
  textChars?: number
  openError?: string
  phrases?: { text: string; page?: number }[]
}

const folder = join(fixtures ?? '', 'documents')
const expected: Record<string, Expected> = fixtures
  ? JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'))
  : {}
/** Phrases of a file's own source, which a reader may rightly take out, such as a line's quotes. */
const plain = (text: string) =>
  text
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}]+/gu, '')
    .toLowerCase()

/** What the offsets of results are counted in. */
async function textOf(name: string, content: Uint8Array): Promise<string> {
  const format = documentFormatOf(name)
  if (format === undefined) throw new Error(`${name} has no format`)
  return (await parseDocument(format, content)).text
}

describe.skipIf(!fixtures)('real documents (need REAL_FIXTURES)', () => {
  let app: TestApp

  beforeAll(async () => {
    app = await buildApp()
  })

  afterAll(() => app.close())

  it.each(Object.entries(expected))(
    '%s is found by its text, or ends in error with a reason',
    async (name, { openError, phrases = [] }) => {
      const content = readFileSync(join(folder, name))
      if (content.length === 0) return
      const id = await uploadAndProcess(app, { name: name.replaceAll('/', '-'), content })
      const source = (await app.call<Source>('GET', `/api/agents/default/sources/${id}`)).body
      if (openError !== undefined)
        expect(source).toMatchObject({ status: 'error', error: expect.stringMatching(/^[A-Z].*\.$/) })
      if (source.status === 'error') expect(phrases).toEqual([])
      const whole = phrases.length === 0 ? '' : await textOf(name, content)
      for (const { text, page } of phrases.filter(phrase => plain(phrase.text).length > 8)) {
        const query = `query=${encodeURIComponent(text)}&source_id=${id}&limit=30`
        const { results } = (
          await app.call<{ results: SearchResult[] }>('GET', `/api/agents/default/sources/search?${query}`)
        ).body
        for (const { content: held, metadata } of results)
          expect(held).toBe(whole.slice(metadata.start, metadata.end))
        const half = Math.ceil(plain(text).length / 2)
        // A phrase that a chunk's edge cuts stands there in two parts, of which one has half of it at least.
        const parts = [plain(text).slice(0, half), plain(text).slice(-half)]
        const found = results.filter(({ content: held }) => parts.some(part => plain(held).includes(part)))
        expect(found.length, `${name}: ${text}`).toBeGreaterThan(0)
        if (page !== undefined)
          expect(
            found.map(result => result.metadata.page),
            `${name}: ${text}`,
          ).toContain(page)
      }
    },
  )

  it.each(
    readdirSync(join(fixtures ?? '.', fixtures ? 'security/files' : '')).filter(name =>
      /\.(pdf|docx)$/.test(name),
    ),
  )('the hostile file %s harms nobody', async name => {
    const content = readFileSync(join(fixtures ?? '', 'security/files', name))
    const id = await uploadAndProcess(app, { name, content })
    const source = (await app.call<Source>('GET', `/api/agents/default/sources/${id}`)).body
    expect(['ready', 'error']).toContain(source.status)
    const { results } = (
      await app.call<{ results: SearchResult[] }>(
        'GET',
        `/api/agents/default/sources/search?query=root&source_id=${id}`,
      )
    ).body
    expect(JSON.stringify(results)).not.toContain('root:x:0')
    expect((await app.call('GET', '/healthz')).status).toBe(200)
  })
})
