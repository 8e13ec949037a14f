/**
 * The content of a page on its way from the thread that has read it to the one that writes it, as bytes, so that the main
 * thread need not parse and serialise it.
 */
import { deserialize, serialize } from 'node:v8'
import type { ChunkingOptions } from '#documents/chunking/chunking-options.ts'
import type { PreparedChunks } from '#features/knowledge/drafts.service.ts'

export interface UncutPage {
  title: string
  text: string
  chunking: ChunkingOptions
}

/** A page as it was read, or its chunks where they were made along with it. */
export type PageContent = UncutPage | PreparedChunks

export function pack(content: PageContent): Uint8Array {
  return serialize(content)
}

export function unpack(packed: Uint8Array): PageContent {
  return deserialize(packed) as PageContent
}
