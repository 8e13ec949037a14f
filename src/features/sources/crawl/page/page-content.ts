/**
 * Packs a page's content as bytes for its way from the reading to the writing thread, so that the main thread
 * need not parse and serialise it.
 */
import { deserialize, serialize } from 'node:v8'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { ChunkingOptions } from '#documents/chunking/chunking-options.ts'
import type { PreparedChunks } from '#features/knowledge/drafts.service.ts'
import { crawlLimits } from '../crawl-limits.ts'

/** A whole page. */
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

/** Packs a page; also stored, to chunk the page again. */
export function packPage(page: UncutPage): Uint8Array {
  return deflateRawSync(serialize(page), { level: 1 })
}

export function unpackPage(packed: Uint8Array): UncutPage {
  // Each character takes two bytes.
  const maxOutputLength = 4 * crawlLimits.pageBytes
  return deserialize(inflateRawSync(packed, { maxOutputLength })) as UncutPage
}
