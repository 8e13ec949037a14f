import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentFormatOf } from '#documents/parsing/document-format.ts'
import { parseDocument } from '#documents/parsing/parse-document.ts'
import type { SearchResult } from '#features/knowledge/knowledge.schema.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { upload, uploadAndProcess } from '#test/support/upload.ts'
import type { Source } from '../sources.schema.ts'

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

/** Milliseconds for one file: the longest has more than a hundred pages. */
const fileLimit = 120_000

const damagedPdf = /^This file is damaged or not a PDF\.$/
const damagedDocx = /^This file is damaged or not a Word document \(\.docx\)\.$/
const scan = /^This PDF holds no text that can be read: it seems to be a scan,/
const noText = /^This file holds no text\.$/

/** Why these files can't be searched, as their owners are to be told; all others can. */
const reasons: Record<string, RegExp> = {
  'pdf/encrypted.pdf': /^This PDF is protected by a password\./,
  'pdf/CORRUPT-truncated.pdf': damagedPdf,
  'pdf/CORRUPT-html-named.pdf': damagedPdf,
  'pdf/no-text-6-pages.pdf': scan,
  'pdf/no-text-scan.pdf': scan,
  'docx/CORRUPT-empty.zip.docx': damagedDocx,
  'docx/CORRUPT-hello.zip.docx': damagedDocx,
  'docx/empty.docx': noText,
  'docx/tiny-picture.docx': noText,
  'docx/external-picture.docx': noText,
}
const hostileReasons: Record<string, RegExp> = {
  'billion-laughs.docx': damagedDocx,
  'xxe-file.docx': damagedDocx,
  'bomb-300MB.docx': /^This document unpacks to far more data than a text needs/,
  // Whichever of the thread's limits it meets first.
  'bomb-400MB.pdf': /^This file takes too much (?:memory|time) to read/,
  'count-lies.pdf': scan,
}
/** They have no phrases of their own to look for. */
const words: Record<string, string> = {
  'docx/strict-format.docx': 'Test',
  'security/files/zip-slip.docx': 'hello zip slip',
}

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

  async function expectEnding(id: string, reason: RegExp | undefined): Promise<void> {
    const { status, error, chunks } = (await app.call<Source>('GET', `/api/agents/default/sources/${id}`))
      .body
    if (reason === undefined) expect([status, error]).toEqual(['ready', undefined])
    else expect([status, error, chunks]).toEqual(['error', expect.stringMatching(reason), undefined])
  }

  async function expectFound(id: string, text: string | undefined): Promise<void> {
    if (text === undefined) return
    const query = `query=${encodeURIComponent(text)}&source_id=${id}`
    const { body } = await app.call<{ results: SearchResult[] }>(
      'GET',
      `/api/agents/default/sources/search?${query}`,
    )
    expect(body.results.map(({ content }) => content)).toEqual([expect.stringContaining(text)])
  }

  it('all of them are expected', () => {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && entry.parentPath !== folder)
      .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    expect(files.toSorted()).toEqual(Object.keys(expected).toSorted())
  })

  it.each(Object.entries(expected))(
    '%s is found by its text, or ends in error with the true reason',
    async (name, { openError, phrases = [] }) => {
      const content = readFileSync(join(folder, name))
      const file = { name: name.replaceAll('/', '-'), content }
      if (content.length === 0) {
        const { status, body } = await upload(app, file)
        expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('is empty')])
        return
      }
      const id = await uploadAndProcess(app, file)
      await expectEnding(id, reasons[name])
      if (openError !== undefined) expect(reasons).toHaveProperty([name])
      await expectFound(id, words[name])
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
    fileLimit,
  )

  it.each(
    readdirSync(join(fixtures ?? '.', fixtures ? 'security/files' : '')).filter(name =>
      /\.(pdf|docx)$/.test(name),
    ),
  )('the hostile file %s harms nobody', async name => {
    const content = readFileSync(join(fixtures ?? '', 'security/files', name))
    const id = await uploadAndProcess(app, { name, content })
    await expectEnding(id, hostileReasons[name])
    await expectFound(id, words[`security/files/${name}`])
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
