/** Passages as the service extracts them are found on the pages as pdf.js reads them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { getDocumentProxy } from 'unpdf'
import { describe, expect, it } from 'vitest'
import { locate, plainLetters } from '#console/features/knowledge/locate.ts'
import { chunkDocument } from '#documents/chunking/chunk-document.ts'
import { defaultChunking } from '#documents/chunking/chunking-options.ts'
import { parseDocument } from '#documents/parsing/parse-document.ts'
import { UnreadableDocument } from '#documents/parsing/parsed-document.ts'
import { makeDrawnPdf, makePdf, makeVerticalPdf } from '#test/support/documents.ts'

const characterMaps = fileURLToPath(new URL('cmaps/', import.meta.resolve('pdfjs-dist/package.json')))

interface Found {
  passage: string
  /** Empty if the passage was not found. */
  marked: string
  share: number
}

/** Each passage of a PDF with what of its page is marked. */
async function markAll(bytes: Uint8Array): Promise<Found[]> {
  const parsed = await parseDocument('pdf', bytes.slice())
  const chunks = chunkDocument(parsed, { ...defaultChunking, chunk_size: 400, overlap: 50 })
  const document = await getDocumentProxy(new Uint8Array(bytes), { cMapUrl: characterMaps, cMapPacked: true })
  const pages = new Map<number, string[]>()
  const found: Found[] = []
  for (const { start, end, page: number } of chunks) {
    const page = number ?? 1
    const { items } = await (await document.getPage(page)).getTextContent()
    const texts = pages.get(page) ?? items.flatMap(item => ('str' in item ? [item.str] : []))
    pages.set(page, texts)
    const onPage = chunks.filter(chunk => (chunk.page ?? 1) === page)
    const first = Math.min(...onPage.map(chunk => chunk.start))
    const last = Math.max(...onPage.map(chunk => chunk.end))
    const around = parsed.text.slice(first, last)
    const { marks, share } = locate(texts, around, { start: start - first, end: end - first })
    const marked = marks.map(mark => texts[mark.item]?.slice(mark.start, mark.end)).join('')
    found.push({ passage: parsed.text.slice(start, end), marked, share })
  }
  return found
}

/** How often each letter stands in a text. */
function countsOf(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const letter of plainLetters(text)) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  return counts
}

/** Whether nothing is marked that the passage does not have. */
function isOf({ passage, marked }: Found): boolean {
  const counts = countsOf(passage)
  return [...countsOf(marked)].every(([letter, count]) => count <= (counts.get(letter) ?? 0))
}

const lines = (page: number) =>
  Array.from(
    { length: 20 },
    (_, at) => `Line ${at} of page ${page} says how the kiln no. ${page * 37 + at} is fired and cooled.`,
  ).join('\n')
const column = (x: number, word: string) =>
  Array.from({ length: 12 }, (_, at) => ({
    text: `${word} ${at} stands in its column`,
    x,
    y: 780 - at * 14,
  }))

describe('each passage of a made PDF is marked whole', () => {
  it.each<[string, () => Uint8Array]>([
    ['of three pages', () => makePdf([lines(1), lines(2), lines(3)])],
    ['of equal pages', () => makePdf([lines(1), lines(1)])],
    ['of lines that repeat', () => makePdf([`${lines(1)}\n${lines(1)}`])],
    ['of one word', () => makePdf(['Kiln'])],
    ['of two columns', () => makeDrawnPdf([...column(40, 'Left'), ...column(320, 'Right')])],
    [
      'of two columns, drawn line by line',
      () => makeDrawnPdf(column(40, 'Left').flatMap((text, at) => [text, column(320, 'Right')[at] ?? text])),
    ],
    [
      'that is turned',
      () => makeDrawnPdf([{ text: 'The kiln is fired for nine hours', x: 300, y: 100, turned: 90 }]),
    ],
    [
      'in vertical Japanese',
      () =>
        makeVerticalPdf([
          { text: '窯は千二百八十度で', x: 500, y: 800 },
          { text: '九時間焼かれます。', x: 480, y: 800 },
        ]),
    ],
  ])('%s', async (_, make) => {
    const found = await markAll(make())
    expect(found.length).toBeGreaterThan(0)
    for (const one of found) {
      expect(one.share).toBe(1)
      expect(countsOf(one.marked)).toEqual(countsOf(one.passage))
    }
  })
})

const folder = `${process.env.REAL_FIXTURES}/documents/pdf`

describe.skipIf(!existsSync(folder))('passages of real PDFs (needs REAL_FIXTURES)', () => {
  const names = existsSync(folder) ? readdirSync(folder) : []

  it.each(names)('%s: marked, or not found; nothing else is marked', async name => {
    const found = await markAll(readFileSync(`${folder}/${name}`)).catch(error => {
      if (error instanceof UnreadableDocument) return []
      throw error
    })
    expect(found.filter(one => !isOf(one))).toEqual([])
    const missed = found.filter(({ marked }) => marked === '')
    expect(missed.length).toBeLessThanOrEqual(found.length * 0.02)
  })
})
