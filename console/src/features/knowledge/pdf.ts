import {
  GlobalWorkerOptions,
  getDocument,
  type PDFDocumentProxy,
  type PDFPageProxy,
  version,
} from 'pdfjs-dist'
import workerAddress from 'pdfjs-dist/build/pdf.worker.min.mjs?url'
import type { Mark } from './locate.ts'
import { cornersOf, type TextItem } from './outline.ts'

declare global {
  /** Defined in browsers with Trusted Types. */
  var trustedTypes:
    | { createPolicy(name: string, rules: { createScriptURL(address: string): string }): typeof rules }
    | undefined
}

/** The console's only policy of Trusted Types: it allows the address of the worker. */
const policy = globalThis.trustedTypes?.createPolicy('agentstead', {
  createScriptURL(address) {
    if (address !== workerAddress) throw new TypeError(`${address} is not the address of the PDF worker.`)
    return address
  },
})
// With an address instead of a worker, pdf.js would silently fall back to the main thread.
GlobalWorkerOptions.workerPort = new Worker(
  (policy?.createScriptURL(workerAddress) ?? workerAddress) as string,
  { type: 'module' },
)

/** Maps of characters and fonts that documents can name without embedding them; the build copies them. */
const shared = `/assets/pdf-${version}`

let latest: { key: string; document: Promise<PDFDocumentProxy> } | undefined

/** Opens a document; the latest one is cached because a person often looks at several passages of it. */
export function openPdf(key: string, load: () => Promise<ArrayBuffer>): Promise<PDFDocumentProxy> {
  if (latest?.key === key) return latest.document
  void latest?.document.then(before => before.loadingTask.destroy()).catch(() => {})
  const document = load().then(
    data =>
      getDocument({
        data,
        cMapUrl: `${shared}/cmaps/`,
        standardFontDataUrl: `${shared}/standard_fonts/`,
        wasmUrl: `${shared}/wasm/`,
        useWasm: false,
        disableWorkerRendering: true,
        stopAtErrors: false,
        verbosity: 0,
      }).promise,
  )
  latest = { key, document }
  document.catch(() => {
    if (latest?.key === key) latest = undefined
  })
  return document
}

export interface PageText {
  items: readonly TextItem[]
  /** Returns the corners of each mark, in pixels of the page's viewport of scale 1. */
  outline(marks: readonly Mark[]): number[][][]
}

/** Reads the texts of a page, with the function that outlines parts of them. */
export async function readPage(page: PDFPageProxy): Promise<PageText> {
  const { items, styles } = await page.getTextContent()
  const texts = items.filter(item => 'str' in item)
  const viewport = page.getViewport({ scale: 1 })
  const context = document.createElement('canvas').getContext('2d')
  return {
    items: texts,
    outline: marks =>
      marks.flatMap(mark => {
        const item = texts[mark.item]
        if (item === undefined) return []
        const font = styles[item.fontName]
        if (context) context.font = `16px ${font?.fontFamily ?? 'sans-serif'}`
        const widthOf = (text: string) => context?.measureText(text).width ?? text.length
        return [
          cornersOf(mark, item, { font, widthOf }).map(([x, y]) => viewport.convertToViewportPoint(x, y)),
        ]
      }),
  }
}
