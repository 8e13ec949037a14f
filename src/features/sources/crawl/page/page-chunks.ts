import type { Chunk } from '#documents/chunking/chunk-document.ts'
import { chunkDocument } from '#documents/chunking/chunk-document.ts'
import { pagePieces } from '#documents/parsing/markdown-pieces.ts'
import { documentOf } from '#documents/parsing/parsed-document.ts'
import type { UncutPage } from './page-content.ts'

/** A web page in markdown, cut. */
export function chunksOfPage({ chunking, ...page }: UncutPage): Chunk[] {
  return chunkDocument(documentOf(pagePieces(page)), chunking)
}
