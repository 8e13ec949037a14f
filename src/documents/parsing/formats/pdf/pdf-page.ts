/** Reads one page of a PDF. */
import type { getDocumentProxy } from 'unpdf'
import { UnreadableDocument } from '../../parsed-document.ts'
import { drawnItems } from './drawn-text.ts'
import { pageText } from './pdf-page-text.ts'
import { isFromRight } from './reading-order/direction.ts'
import { type Font, withoutRubbish } from './rubbish.ts'

export type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>

type PdfPage = Awaited<ReturnType<Pdf['getPage']>>

/** Excludes the appearances of annotations from the page. */
const withoutAnnotations = { annotationMode: 0 }

/** The common facts of a document's pages. */
export interface Reading {
  hasLayers: boolean
  /** Names of the layers that are switched off. */
  hidden: readonly string[]
  /** Returns true if the content of a layer is shown. */
  isShown: (layer: unknown) => boolean
  /** Fonts that were in doubt. */
  fonts: Map<string, Font>
  /** Numbers of the commands of pages by their names. */
  numbers: Readonly<Record<string, number>>
  annotationTypes: Readonly<Record<string, number>>
}

export interface ReadPage {
  /** The text, which ends in a blank line; empty without any. */
  text: string
  /** Number of characters left out as rubbish. */
  lost: number
  /** Names of the fonts that drew it. */
  fonts: string[]
  /** True if hidden layers hold some of its text. */
  isHidden: boolean
  /** True for a page with content but no text. */
  isPicture: boolean
}

/** Reads the common facts, with layers as in a newly opened document. */
export async function readingOf(pdf: Pdf): Promise<Reading> {
  const { getResolvedPDFJS } = await import('unpdf')
  const { OPS: numbers, AnnotationType } = await getResolvedPDFJS()
  const config = await pdf.getOptionalContentConfig()
  const groups = [...config] as [id: string, { name: string; visible: boolean }][]
  const off = groups.filter(([, { visible }]) => !visible).map(([, { name }]) => name || 'without a name')
  const hidden = off.length > 0 ? off : ['by others that are on']
  return {
    hasLayers: groups.length > 0,
    hidden,
    isShown: layer => config.isVisible(layer),
    fonts: new Map(),
    numbers,
    annotationTypes: AnnotationType,
  }
}

export async function readPage(pdf: Pdf, number: number, reading: Reading): Promise<ReadPage> {
  try {
    const page = await pdf.getPage(number)
    const { items, styles } = await page.getTextContent()
    const ready = items.filter(item => 'str' in item)
    const isMixed = reading.hasLayers || ready.some(({ str }) => isFromRight(str))
    const { items: drawn, isHidden } = isMixed
      ? await readCommands(page, reading)
      : { items: ready, isHidden: false }
    const { legible, lost, fonts } = await withoutRubbish(drawn, names =>
      readFonts(page, names, reading.fonts),
    )
    const isPicture = drawn.length === 0 && !isHidden && (await drawsAnything(page))
    page.cleanup()
    const text = pageText(legible, fontName => styles[fontName]?.vertical ?? false)
    return { text, lost, fonts, isHidden, isPicture }
  } catch (error) {
    throw new UnreadableDocument(`Page ${number} of this PDF is damaged.`, error)
  }
}

async function readCommands(page: PdfPage, { isShown, numbers }: Reading) {
  const commands = await page.getOperatorList(withoutAnnotations)
  return drawnItems({ commands, numbers, isShown, fontOf: name => fontOf(page, name), view: page.view })
}

/** Returns true for a page with content: the commands include places of pictures, if not the pictures. */
async function drawsAnything(page: PdfPage): Promise<boolean> {
  return (await page.getOperatorList(withoutAnnotations)).fnArray.length > 0
}

/** Reads fonts, which are known once drawing is prepared. */
async function readFonts(page: PdfPage, names: string[], known: Map<string, Font>) {
  if (names.some(name => !known.has(name)))
    await page.getOperatorList(withoutAnnotations).catch(() => undefined)
  for (const name of names) known.set(name, known.get(name) ?? fontOf(page, name))
  return (name: string) => known.get(name) ?? {}
}

function fontOf(page: PdfPage, name: string): Font {
  return page.commonObjs.has(name) ? (page.commonObjs.get(name) as Font) : {}
}
