/** One page of a PDF: what it draws, and what people have added to it. */
import type { getDocumentProxy } from 'unpdf'
import { UnreadableDocument } from '../../parsed-document.ts'
import { drawnItems } from './drawn-text.ts'
import { annotationText } from './pdf-annotations.ts'
import { pageText } from './pdf-page-text.ts'
import { isFromRight } from './reading-order/direction.ts'
import type { TextItem } from './reading-order/runs.ts'
import type { Font } from './rubbish.ts'
import { fontsInDoubt, withoutRubbish } from './rubbish.ts'

export type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>

type PdfPage = Awaited<ReturnType<Pdf['getPage']>>

/** Appearances of annotations are not among what the page draws. */
const withoutAnnotations = { annotationMode: 0 }

/** What the pages of a document have in common. */
export interface Reading {
  hasLayers: boolean
  /** Names of the layers that are switched off. */
  hidden: readonly string[]
  /** Whether what belongs to a layer is shown. */
  isShown: (layer: unknown) => boolean
  /** Fonts that were in doubt, and those beside them. */
  fonts: Map<string, Font>
  /** Numbers of the commands of pages by their names. */
  numbers: Readonly<Record<string, number>>
}

export interface ReadPage {
  /** Ends in a blank line; empty for a page without text. */
  text: string
  annotations: string
  /** How much is left out, being rubbish. */
  lost: number
  /** Names of the fonts that drew it. */
  fonts: string[]
  /** Reading that are switched off hide some of its text. */
  isHidden: boolean
  /** There is something on it, but no text. */
  isPicture: boolean
}

/** Layers are as a viewer shows them that opens the document. */
export async function readingOf(pdf: Pdf): Promise<Reading> {
  const { getResolvedPDFJS } = await import('unpdf')
  const { OPS: numbers } = await getResolvedPDFJS()
  const config = await pdf.getOptionalContentConfig()
  const groups = [...config] as [id: string, { name: string; visible: boolean }][]
  const hidden = groups.filter(([, { visible }]) => !visible).map(([, { name }]) => name)
  return {
    hasLayers: groups.length > 0,
    hidden,
    isShown: layer => config.isVisible(layer),
    fonts: new Map(),
    numbers,
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
    if (fontsInDoubt(drawn).some(name => !reading.fonts.has(name))) await readFonts(page, drawn, reading)
    const { legible, lost, fonts } = withoutRubbish(drawn, name => reading.fonts.get(name) ?? {})
    const annotations = annotationText(await page.getAnnotations().catch(() => []), reading.isShown)
    const isPicture = drawn.length === 0 && !isHidden && (await drawsAnything(page))
    page.cleanup()
    const text = pageText(legible, fontName => styles[fontName]?.vertical ?? false)
    return { text, annotations, lost, fonts, isHidden, isPicture }
  } catch (error) {
    throw new UnreadableDocument(`Page ${number} of this PDF is damaged.`, error)
  }
}

async function readCommands(page: PdfPage, { isShown, numbers }: Reading) {
  const commands = await page.getOperatorList(withoutAnnotations)
  return drawnItems({ commands, numbers, isShown, fontOf: name => fontOf(page, name), view: page.view })
}

/** Pictures themselves are not among the commands, but their places are. */
async function drawsAnything(page: PdfPage): Promise<boolean> {
  return (await page.getOperatorList(withoutAnnotations)).fnArray.length > 0
}

/** Fonts are known when drawing is prepared. */
async function readFonts(page: PdfPage, items: readonly TextItem[], { fonts }: Reading): Promise<void> {
  await page.getOperatorList(withoutAnnotations).catch(() => undefined)
  for (const { fontName } of items) fonts.set(fontName, fontOf(page, fontName))
}

function fontOf(page: PdfPage, name: string): Font {
  return page.commonObjs.has(name) ? (page.commonObjs.get(name) as Font) : {}
}
