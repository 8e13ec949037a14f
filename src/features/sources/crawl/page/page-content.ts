/**
 * The content of a page on its way from the thread that has read it to the one that writes it, as bytes, so that the main
 * thread need not parse and serialise it.
 */
import { deserialize, serialize } from 'node:v8'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { ChunkingOptions } from '#documents/chunking/chunking-options.ts'
import type { PreparedChunks } from '#features/knowledge/drafts.service.ts'
import { crawlLimits } from '../crawl-limits.ts'

/** A page as it was read, whole. */
export interface UncutPage {
  title: string
  text: string
  chunking: ChunkingOptions
}

export function pack(chunks: PreparedChunks): Uint8Array {
  return serialize(chunks)
}

export function unpack(packed: Uint8Array): PreparedChunks {
  return deserialize(packed) as PreparedChunks
}

/** Also stored: from it the page's passages are made again. */
export function packPage(page: UncutPage): Uint8Array {
  return deflateRawSync(serialize(page), { level: 1 })
}

export function unpackPage(packed: Uint8Array): UncutPage {
  // Two bytes for each character.
  const maxOutputLength = 4 * crawlLimits.pageBytes
  return deserialize(inflateRawSync(packed, { maxOutputLength })) as UncutPage
}
