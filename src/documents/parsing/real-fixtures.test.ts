import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createIngest } from '#features/sources/ingestion/ingest.ts'
import { createLog } from '#platform/logging/log.ts'
import { createWorkerPool } from '#platform/workers/worker-pool.ts'
import { setSearchStage } from '#test/support/search-stage.ts'
import { chunkDocument } from '../chunking/chunk-document.ts'
import { chunkingMethods, defaultChunking } from '../chunking/chunking-options.ts'
import { type DocumentFormat, documentFormatOf } from './document-format.ts'
import { readHtmlPage } from './html/html-page.ts'
import { parseDocument } from './parse-document.ts'
import { type ParsedDocument, UnreadableDocument } from './parsed-document.ts'

interface Expected {
  pages?: number
  phrases?: { text: string; page?: number }[]
}

const fixtures = process.env.REAL_FIXTURES ?? ''

/** Why a file of the collection can't be read; every other one must be. */
const unreadable: Record<string, RegExp> = {
  'pdf/no-text-6-pages.pdf': /scan/,
  'pdf/no-text-scan.pdf': /scan/,
  'pdf/encrypted.pdf': /password/,
  'pdf/CORRUPT-truncated.pdf': /damaged/,
  'pdf/CORRUPT-empty.pdf': /empty/,
  'pdf/CORRUPT-html-named.pdf': /damaged/,
  'docx/CORRUPT-empty.zip.docx': /damaged/,
  'docx/CORRUPT-hello.zip.docx': /damaged/,
  'docx/tiny-picture.docx': /no text/,
  'docx/external-picture.docx': /no text/,
  'docx/empty.docx': /no text/,
  'md/empty.md': /empty/,
}

function bytesOf(...path: string[]): Uint8Array {
  return readFileSync(join(fixtures, ...path))
}

/** Where a thread finds a file of the collection. */
function fileAt(name: string) {
  return { kind: 'directory' as const, path: join(fixtures, name) }
}

function formatOf(name: string): DocumentFormat {
  const format = documentFormatOf(name)
  if (format === undefined) throw new Error(`${name} is of no known format`)
  return format
}

/** How texts of different readers are compared. */
function compared(text: string): string {
  return text.normalize('NFKC').replace(/\s+/g, '')
}

function textOfPage({ text, spans }: ParsedDocument, page: number | undefined): string {
  return spans
    .filter(span => page === undefined || span.page === page)
    .map(({ start, end }) => text.slice(start, end))
    .join('')
}

describe.skipIf(fixtures === '')('real documents (REAL_FIXTURES must name their folder)', () => {
  const documents: [string, Expected][] =
    fixtures === ''
      ? []
      : Object.entries(JSON.parse(readFileSync(join(fixtures, 'documents/expected.json'), 'utf8')))
  const readable = documents.filter(([name]) => unreadable[name] === undefined)

  test.each(readable)('%s is read with its phrases on their pages', async (name, { phrases = [] }) => {
    const document = await parseDocument(formatOf(name), bytesOf('documents', name))
    for (const { text, page } of phrases) {
      expect(compared(textOfPage(document, page))).toContain(compared(text))
    }
  })

  test.each(readable)('%s is cut into chunks that are what they say', async (name, { pages }) => {
    const document = await parseDocument(formatOf(name), bytesOf('documents', name))
    expect(document.spans.map(span => span.start)).toEqual([
      0,
      ...document.spans.slice(0, -1).map(span => span.end),
    ])
    expect(document.spans.at(-1)?.end).toBe(document.text.length)
    for (const method of chunkingMethods) {
      const chunks = chunkDocument(document, { ...defaultChunking, method })
      for (const { content, start, end, page } of chunks) {
        expect(content).toBe(document.text.slice(start, end))
        expect(content.length).toBeLessThanOrEqual(defaultChunking.chunk_size)
        expect(page ?? 1).toBeLessThanOrEqual(pages ?? 1)
      }
      const uncovered = chunks.map(({ start }, index) =>
        document.text.slice(chunks[index - 1]?.end ?? 0, start),
      )
      expect(uncovered.join('').trim()).toBe('')
    }
  })

  test.each(Object.entries(unreadable))('%s ends in a true reason', async (name, reason) => {
    const failed = parseDocument(formatOf(name), bytesOf('documents', name))
    await expect(failed).rejects.toThrow(UnreadableDocument)
    await expect(failed).rejects.toThrow(reason)
  })

  test('an encyclopedia page keeps its headings, tables and links', async () => {
    const html = readFileSync(join(fixtures, 'html/real-pages/markitdown-wikipedia.html'), 'utf8')
    const { title, markdown } = await readHtmlPage({
      html,
      url: 'https://en.wikipedia.example/wiki/Microsoft',
    })
    expect(title).toBe('Microsoft - Wikipedia')
    expect(markdown).toMatch(/^## History/m)
    expect(markdown).toMatch(/\| Founded \| April\s4, 1975/)
    expect(markdown).toContain('[Bill Gates](https://en.wikipedia.example/wiki/Bill_Gates)')
    expect(markdown).not.toMatch(/<(?:div|table|span)/)
  })
})

/** A source of a new agent, for the chunks of a file. */
async function draftTarget() {
  const { path: databasePath, addSource } = await setSearchStage()
  await addSource('manual')
  const target = { databasePath, sourceId: 'manual', attempt: 'first', draft: 'first', isBuiltin: true }
  return { ...target, chunking: defaultChunking }
}

describe.skipIf(fixtures === '')('hostile files (REAL_FIXTURES must name their folder)', () => {
  test.each([
    ['bomb-300MB.docx', /unpacks to far more data/],
    ['billion-laughs.docx', /damaged/],
    ['xxe-file.docx', /damaged/],
    ['count-lies.pdf', /scan/],
  ])('%s is refused', async (name, reason) => {
    await expect(parseDocument(formatOf(name), bytesOf('security/files', name))).rejects.toThrow(reason)
  })

  test('zip-slip.docx is read, and writes nothing', async () => {
    const { text } = await parseDocument('docx', bytesOf('security/files/zip-slip.docx'))
    expect(text).toBe('hello zip slip')
    expect(existsSync('/tmp/zip-slip-was-here.txt')).toBe(false)
  })

  test('bomb-400MB.pdf takes no more memory than its thread may', async () => {
    const workers = createWorkerPool({ memoryLimitMb: 128, log: createLog('silent') })
    const before = process.memoryUsage().rss
    const location = fileAt('security/files/bomb-400MB.pdf')
    const read = await createIngest({ workers })({ ...(await draftTarget()), location, format: 'pdf' })
    expect(read).toEqual({ kind: 'unreadable', reason: expect.stringMatching(/too much memory/) })
    expect(process.resourceUsage().maxRSS * 1024 - before).toBeLessThan(600_000_000)
    await workers.close()
  })

  test('every hostile file ends in an answer of its thread', async () => {
    const workers = createWorkerPool({ log: createLog('silent') })
    const names = readdirSync(join(fixtures, 'security/files')).filter(
      name => documentFormatOf(name) !== 'json',
    )
    expect(names.length).toBeGreaterThan(5)
    for (const name of names) {
      const location = fileAt(join('security/files', name))
      const target = await draftTarget()
      const read = await createIngest({ workers })({ ...target, location, format: formatOf(name) })
      expect(JSON.stringify(read)).not.toContain('root:')
    }
    await workers.close()
  })
})
