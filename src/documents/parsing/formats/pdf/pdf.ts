import { limits } from '../../limits.ts'
import {
  documentOf,
  type ParsedDocument,
  type Piece,
  tooMuchText,
  UnreadableDocument,
} from '../../parsed-document.ts'
import { EastAsianMaps } from './east-asian-maps.ts'
import { annotationTexts, typesWithRemarks } from './pdf-annotations.ts'
import { filledFields } from './pdf-form.ts'
import { type Pdf, readingOf, readPage } from './pdf-page.ts'
import { cutAtHeadings } from './pdf-sections.ts'
import { lengthOf } from './rubbish.ts'

type OutlineNode = Awaited<ReturnType<Pdf['getOutline']>>[number]

/** A heading of the outline, and its page, counted from 1. */
interface OutlineEntry {
  page: number
  title: string
}

/** Max share of a text that is left out because its fonts do not name their letters. */
const maxLost = 0.2

/** Options to read the fonts' facts about their letters; no picture is small enough to be decoded. */
const options = { verbosity: 0, useSystemFonts: false, fontExtraProperties: true, maxImageSize: 1 }
/** Maps as text, where pdf.js would otherwise expect a binary form. */
const eastAsianMaps = { BinaryDataFactory: EastAsianMaps, cMapPacked: false, useWorkerFetch: false }

/** Returns text, fields and annotations by page; headings of the outline are sections. Ignores pictures. */
export async function parsePdf(bytes: Uint8Array): Promise<ParsedDocument> {
  const pdf = await openPdf(bytes)
  try {
    if (pdf.numPages > limits.pdfPages) {
      throw new UnreadableDocument(`This PDF has more than ${limits.pdfPages} pages. Split it up.`)
    }
    const { pieces, warnings } = await readPages(pdf)
    return { ...documentOf(pieces), ...(warnings.length > 0 && { warnings }) }
  } finally {
    await pdf.loadingTask.destroy()
  }
}

async function openPdf(bytes: Uint8Array): Promise<Pdf> {
  const { getDocumentProxy } = await import('unpdf')
  try {
    // The reader takes over the bytes, so it gets a copy.
    const own = new Uint8Array(bytes)
    return await getDocumentProxy(own, { ...options, ...eastAsianMaps })
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') {
      throw new UnreadableDocument('This PDF is protected by a password. Upload it without one.', error)
    }
    throw new UnreadableDocument('This file is damaged or not a PDF.', error)
  }
}

async function readPages(pdf: Pdf): Promise<{ pieces: Piece[]; warnings: string[] }> {
  const outline = await readOutline(pdf)
  const reading = await readingOf(pdf)
  const fields = filledFields(Object.values((await orNothing(pdf.getFieldObjects())) ?? {}).flat())
  const types = typesWithRemarks(reading.annotationTypes)
  const remarks = await orNothing(pdf.getAnnotationsByType(types, new Set()))
  const annotations = annotationTexts(remarks ?? [], reading.isShown)
  const pieces: Piece[] = []
  const lostFonts = new Set<string>()
  const pictures: number[] = []
  let [characters, read, lost] = [0, 0, 0]
  let isHidden = false
  let section: string | undefined
  for (let page = 1; page <= pdf.numPages; page++) {
    const drawn = await readPage(pdf, page, reading)
    const text = drawn.text + (fields.get(page) ?? '') + (annotations.get(page) ?? '')
    characters += text.length
    read += lengthOf(text)
    lost += drawn.lost
    isHidden ||= drawn.isHidden
    if (drawn.isPicture) pictures.push(page)
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
  const warnings = [
    ...(remarks === undefined ? ['The annotations of this PDF are damaged, and were not read.'] : []),
    ...naming(
      pictures.map(String),
      'No text was found on pages that show something',
      ' If they are scans, run text recognition (OCR) on the file and upload the result.',
    ),
    ...naming(lostFonts, 'Text was left out whose fonts do not tell which letters they draw'),
    ...naming(isHidden ? reading.hidden : [], 'Text on layers that are switched off was not read'),
    ...naming(
      await attachedFiles(pdf),
      'Attached files were not read',
      ' Upload those that count by themselves.',
    ),
  ]
  return { pieces, warnings }
}

async function attachedFiles(pdf: Pdf): Promise<string[]> {
  const files = (await orNothing(pdf.getAttachments())) as Map<string, Attachment> | null | undefined
  return Array.from(files?.values() ?? [], ({ filename }) => filename.slice(0, maxNameLength))
}

/** Returns a warning that names its subjects, or none. */
function naming(list: Iterable<string>, what: string, advice = ''): string[] {
  const names = namesIn(list)
  return names === '' ? [] : [`${what}: ${names}.${advice}`]
}

/** An attachment of pdf.js. */
interface Attachment {
  filename: string
}

const maxNamed = 5
const maxNameLength = 100

function namesIn(list: Iterable<string>): string {
  const names = [...list]
  const others = names.length - maxNamed
  return names.slice(0, maxNamed).join(', ') + (others > 0 ? ` and ${others} more` : '')
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

/** Ignores a broken outline, without which the text is still readable. */
async function orNothing<Value>(promise: Promise<Value>): Promise<Value | undefined> {
  return promise.catch(() => undefined)
}
