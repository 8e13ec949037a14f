import { embedTerms } from '#models/embeddings/builtin-embedding.ts'
import { termsAndSearchableText } from '#models/text-analysis/text-analysis.ts'
import type { Vector } from '#storage/search-engine.ts'
import type { Chunk } from '../chunking/chunk-document.ts'
import { indexedText } from './indexed-text.ts'

/** What the indexes hold of a chunk. To make it is the most of the work, and needs no database. */
export interface Prepared {
  terms: string
  /** Undefined for a chunk without words, which only its terms could find. */
  vector: Vector | undefined
}

/** A chunk with a built-in vector. */
export type PreparedChunk = Chunk & Prepared

/** What is prepared already stays; without `vector` a chunk gets a built-in one. */
export function prepare(
  chunk: Pick<Chunk, 'content' | 'section'> | PreparedChunk,
  vector?: Vector,
): Prepared {
  if ('terms' in chunk) return chunk
  const { terms, searchable } = termsAndSearchableText(indexedText(chunk))
  return { terms: searchable, vector: vector ?? embedTerms(terms) }
}
