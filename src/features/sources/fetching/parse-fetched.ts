import type { DocumentFormat } from '#documents/parsing/document-format.ts'
import { parseRows } from '#documents/parsing/formats/rows.ts'
import { pageText } from '#documents/parsing/html/page-text.ts'
import { limits } from '#documents/parsing/limits.ts'
import { pagePieces } from '#documents/parsing/markdown-pieces.ts'
import { parseDocument } from '#documents/parsing/parse-document.ts'
import {
  documentOf,
  type ParsedDocument,
  tooMuchText,
  UnreadableDocument,
} from '#documents/parsing/parsed-document.ts'

/** The formats of fetched content: documents like uploaded ones, web pages, and rows of a query. */
export type FetchedFormat = DocumentFormat | 'html' | 'rows'

export interface Fetched {
  /** The whole buffer, which moves to the reading thread. */
  bytes: Uint8Array<ArrayBuffer>
  format: FetchedFormat
  /** The server's type, with its character set. */
  contentType: string
  /** The content's address. */
  url: string
}

const textFormats = new Set<FetchedFormat>(['txt', 'md', 'json', 'csv', 'html'])

/**
 * Returns the text of fetched content. Like `parseDocument`, it runs only in a thread that can be killed.
 * @param withoutSecrets removes secrets, from the source, so that no format can hide one in two pieces.
 */
export async function parseFetched(
  fetched: Fetched,
  withoutSecrets: (text: string) => string,
): Promise<ParsedDocument> {
  const { format, url } = fetched
  const bytes = textFormats.has(format) ? recoded(fetched, withoutSecrets) : fetched.bytes
  if (format === 'rows') return limited(await parseRows(bytes))
  if (format !== 'html') return await parseDocument(format, bytes)
  const html = pageText(bytes, 'text/html; charset=utf-8') ?? ''
  const { readHtmlPage } = await import('#documents/parsing/html/html-page.ts')
  const { title, markdown } = readHtmlPage({ html, url })
  const document = limited(documentOf(pagePieces({ title, text: markdown })))
  if (!/\S/.test(document.text)) throw new UnreadableDocument('This page holds no text.')
  return document
}

function limited(document: ParsedDocument): ParsedDocument {
  if (document.text.length > limits.characters) throw tooMuchText()
  return document
}

/** Converts the server's character set to UTF-8. */
function recoded({ bytes, contentType }: Fetched, withoutSecrets: (text: string) => string): Uint8Array {
  const text = pageText(bytes, contentType)
  return text === undefined ? bytes : new TextEncoder().encode(withoutSecrets(text))
}
