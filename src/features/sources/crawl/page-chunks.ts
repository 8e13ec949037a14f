import type { Chunk } from '../chunking/chunk-document.ts'
import { chunkDocument } from '../chunking/chunk-document.ts'
import { defaultChunking } from '../chunking/chunking-options.ts'
import { pagePieces } from '../parsing/markdown-pieces.ts'
import { documentOf } from '../parsing/parsed-document.ts'

/** A web page in markdown, cut. */
export function chunksOfPage(page: { title: string; text: string }): Chunk[] {
  return chunkDocument(documentOf(pagePieces(page)), defaultChunking)
}
