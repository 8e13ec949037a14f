import type { DocumentFormat } from '#documents/parsing/document-format.ts'
import { parseRows } from '#documents/parsing/formats/rows.ts'
import { pageText } from '#documents/parsing/html/page-text.ts'
import { limits } from '#documents/parsing/limits.ts'
import { pagePieces } from '#documents/parsing/markdown-pieces.ts'
import { parseDocument } from '#documents/parsing/parse-document.ts'
import type { ParsedDocument } from '#documents/parsing/parsed-document.ts'
import { documentOf, tooMuchText, UnreadableDocument } from '#documents/parsing/parsed-document.ts'

/** The possible content of a fetched source: documents as they are uploaded, web pages, and rows of a query. */
export type FetchedFormat = DocumentFormat | 'html' | 'rows'

export interface Fetched {
  /** All of its buffer, which moves to the thread that reads it. */
  bytes: Uint8Array<ArrayBuffer>
  format: FetchedFormat
  /** From the server, with its character set. */
  contentType: string
  /** Where it was read. */
  url: string
}

const textFormats = new Set<FetchedFormat>(['txt', 'md', 'json', 'csv', 'html'])

/**
 * The text of what was fetched. As `parseDocument`, it runs only in a thread that can be killed.
 * @param withoutSecrets takes out what no passage may show; applied to the source, so that no format can hide it in two pieces.
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

/** In UTF-8, from any character set of the server. */
function recoded({ bytes, contentType }: Fetched, withoutSecrets: (text: string) => string): Uint8Array {
  const text = pageText(bytes, contentType)
  return text === undefined ? bytes : new TextEncoder().encode(withoutSecrets(text))
}
