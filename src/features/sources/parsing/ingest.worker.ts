/** What runs in a thread of the worker pool; the other side is `ingest.ts`. */
import { readFile } from 'node:fs/promises'
import type { Chunk } from '../chunking/chunk-document.ts'
import { chunkDocument } from '../chunking/chunk-document.ts'
import type { ChunkingOptions } from '../chunking/chunking-options.ts'
import type { DocumentFormat } from './document-format.ts'
import type { HtmlPage, MarkdownPage } from './html-page.ts'
import { parseDocument } from './parse-document.ts'
import { UnreadableDocument } from './parsed-document.ts'

export interface StoredFile {
  path: string
  format: DocumentFormat
  chunking: ChunkingOptions
}

/** `characters` is the length of the extracted text, into which the chunks' offsets point. */
export type IngestedFile =
  | { kind: 'parsed'; characters: number; chunks: Chunk[] }
  | { kind: 'unreadable'; reason: string }

export async function parseAndChunk({ path, format, chunking }: StoredFile): Promise<IngestedFile> {
  const bytes = await readFile(path)
  try {
    const document = await parseDocument(format, bytes)
    return { kind: 'parsed', characters: document.text.length, chunks: chunkDocument(document, chunking) }
  } catch (error) {
    if (error instanceof UnreadableDocument) return { kind: 'unreadable', reason: error.message }
    throw error
  }
}

export async function pageToMarkdown(page: HtmlPage): Promise<MarkdownPage> {
  const { readHtmlPage } = await import('./html-page.ts')
  return readHtmlPage(page)
}
