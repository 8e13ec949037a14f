import { type Chunk, chunkDocument } from '#documents/chunking/chunk-document.ts'
import { pagePieces } from '#documents/parsing/markdown-pieces.ts'
import { documentOf } from '#documents/parsing/parsed-document.ts'
import { withoutLeftOut } from './page-blocks.ts'
import type { UncutPage } from './page-content.ts'

/** Chunks a web page in markdown, without the blocks that `leftOut` marks. */
export function chunksOfPage({ title, text, chunking }: UncutPage, leftOut: string): Chunk[] {
  return chunkDocument(documentOf(pagePieces({ title, text: withoutLeftOut(text, leftOut) })), chunking)
}
