import type { Chunk } from '#documents/chunking/chunk-document.ts'
import { embedTerms } from '#models/embeddings/builtin-embedding.ts'
import { termsAndSearchableText } from '#models/text-analysis/text-analysis.ts'
import type { Vector } from '#storage/search/search-engine.ts'
import { indexedText } from './indexed-text.ts'

/** The indexed content of a chunk: most of the computation, without a database. */
export interface Prepared {
  terms: string
  /** The vector; undefined for a chunk without words, which only its terms can find. */
  vector: Vector | undefined
}

/** A chunk with a built-in vector. */
export type PreparedChunk = Chunk & Prepared

/** Prepares a chunk unless it is prepared; `vector` defaults to a built-in one. */
export function prepare(
  chunk: Pick<Chunk, 'content' | 'section'> | PreparedChunk,
  vector?: Vector,
): Prepared {
  if ('terms' in chunk) return chunk
  const { terms, searchable } = termsAndSearchableText(indexedText(chunk))
  return { terms: searchable, vector: vector ?? embedTerms(terms) }
}
