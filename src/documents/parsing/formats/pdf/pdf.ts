import type { getDocumentProxy } from 'unpdf'
import { limits } from '../../limits.ts'
import type { ParsedDocument, Piece } from '../../parsed-document.ts'
import { documentOf, tooMuchText, UnreadableDocument } from '../../parsed-document.ts'
import { EastAsianMaps } from './east-asian-maps.ts'
import { filledFields } from './pdf-form.ts'
import { pageText } from './pdf-page-text.ts'
import { cutAtHeadings } from './pdf-sections.ts'
import { lengthOf, needsNames, withoutRubbish } from './rubbish.ts'

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>

type PdfPage = Awaited<ReturnType<Pdf['getPage']>>

type OutlineNode = Awaited<ReturnType<Pdf['getOutline']>>[number]

/** Heading of the outline, and the page that it leads to, counted from 1. */
interface OutlineEntry {
  page: number
  title: string
}

/** Share of a text that may be left out because its fonts do not name their letters. */
const maxLost = 0.2

/** As text, where pdf.js would otherwise expect maps in a binary form. */
const eastAsianMaps = { BinaryDataFactory: EastAsianMaps, cMapPacked: false, useWorkerFetch: false }

/** Text and filled-in fields by page; headings of the outline are sections. Pictures are not looked at. */
export async function parsePdf(bytes: Uint8Array): Promise<ParsedDocument> {
  const pdf = await openPdf(bytes)
  try {
    if (pdf.numPages > limits.pdfPages) {
      throw new UnreadableDocument(`This PDF has more than ${limits.pdfPages} pages. Split it up.`)
    }
    return documentOf(await readPages(pdf))
  } finally {
    await pdf.loadingTask.destroy()
  }
}

async function openPdf(bytes: Uint8Array): Promise<Pdf> {
  const { getDocumentProxy } = await import('unpdf')
  try {
    // The reader takes the bytes over, so it gets its own.
    const own = new Uint8Array(bytes)
    return await getDocumentProxy(own, { verbosity: 0, useSystemFonts: false, ...eastAsianMaps })
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') {
      throw new UnreadableDocument('This PDF is protected by a password. Upload it without one.', error)
    }
    throw new UnreadableDocument('This file is damaged or not a PDF.', error)
  }
}

async function readPages(pdf: Pdf): Promise<Piece[]> {
  const outline = await readOutline(pdf)
  const fields = filledFields(Object.values((await orNothing(pdf.getFieldObjects())) ?? {}).flat())
  const pieces: Piece[] = []
  const lostFonts = new Set<string>()
  let [characters, read, lost] = [0, 0, 0]
  let section: string | undefined
  for (let page = 1; page <= pdf.numPages; page++) {
    const drawn = await readPage(pdf, page)
    const text = drawn.text + (fields.get(page) ?? '')
    characters += text.length
    read += lengthOf(text)
    lost += drawn.lost
    for (const font of drawn.fonts) lostFonts.add(font)
    if (characters > limits.characters) throw tooMuchText()
    const titles = outline.filter(entry => entry.page === page).map(entry => entry.title)
    const parts = cutAtHeadings(text, section, titles)
    section = parts.at(-1)?.section
    pieces.push(...parts.map(part => ({ ...part, page })))
  }
  if (lost > (read + lost) * maxLost) {
    throw new UnreadableDocument(
      `The fonts of this PDF do not tell which letters they draw, so that its text cannot be read: ${namesIn(lostFonts)}. Run text recognition (OCR) on it and upload the result.`,
    )
  }
  if (!pieces.some(piece => /\S/.test(piece.text))) {
    throw new UnreadableDocument(
      'This PDF holds no text that can be read: it seems to be a scan, or its fonts do not tell which letters they draw. Run text recognition (OCR) on it and upload the result.',
    )
  }
  return pieces
}

const maxNamed = 5

function namesIn(fonts: ReadonlySet<string>): string {
  const names = [...fonts]
  const others = names.length - maxNamed
  return names.slice(0, maxNamed).join(', ') + (others > 0 ? ` and ${others} more` : '')
}

interface DrawnPage {
  /** Ends in a blank line; empty for a page without text. */
  text: string
  /** How much is left out, being rubbish. */
  lost: number
  /** Names of the fonts that drew it. */
  fonts: string[]
}

/** The names that a page's fonts have in the PDF, without the mark of a subset. Drawing is prepared to learn them. */
async function fontNames(page: PdfPage): Promise<(font: string) => string> {
  await orNothing(page.getOperatorList())
  return font => {
    const { name = 'a font without a name' } = page.commonObjs.has(font)
      ? (page.commonObjs.get(font) as { name?: string })
      : {}
    return name.replace(/^[A-Z]{6}\+/, '').slice(0, 100)
  }
}

async function readPage(pdf: Pdf, number: number): Promise<DrawnPage> {
  try {
    const page = await pdf.getPage(number)
    const { items, styles } = await page.getTextContent()
    const drawn = items.filter(item => 'str' in item)
    const nameOf = needsNames(drawn) ? await fontNames(page) : () => ''
    const { legible, lost, fonts } = withoutRubbish(drawn, nameOf)
    page.cleanup()
    return { text: pageText(legible, fontName => styles[fontName]?.vertical ?? false), lost, fonts }
  } catch (error) {
    throw new UnreadableDocument(`Page ${number} of this PDF is damaged.`, error)
  }
}

async function readOutline(pdf: Pdf): Promise<OutlineEntry[]> {
  const nodes = (await orNothing(pdf.getOutline())) ?? []
  const entries: OutlineEntry[] = []
  for (const { title, dest } of inReadingOrder(nodes).take(limits.outlineEntries)) {
    const target = typeof dest === 'string' ? await orNothing(pdf.getDestination(dest)) : dest
    const page = await orNothing(pageOf(pdf, target?.[0]))
    if (page !== undefined) entries.push({ page, title })
  }
  return entries
}

function* inReadingOrder(nodes: OutlineNode[]): Generator<OutlineNode, undefined> {
  for (const node of nodes) {
    yield node
    yield* inReadingOrder(node.items)
  }
}

async function pageOf(pdf: Pdf, target: unknown): Promise<number | undefined> {
  if (typeof target === 'number') return target + 1
  if (typeof target !== 'object' || target === null) return undefined
  return (await pdf.getPageIndex(target as Parameters<Pdf['getPageIndex']>[0])) + 1
}

/** An outline is a help for readers: where it is broken, the text is still the text. */
async function orNothing<Value>(promise: Promise<Value>): Promise<Value | undefined> {
  return promise.catch(() => undefined)
}
