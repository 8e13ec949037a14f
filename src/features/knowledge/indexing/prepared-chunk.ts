import type { Chunk } from '#documents/chunking/chunk-document.ts'
import { embedTerms } from '#models/embeddings/builtin-embedding.ts'
import { termsAndSearchableText } from '#models/text-analysis/text-analysis.ts'
import type { Vector } from '#storage/search/search-engine.ts'
import { indexedText } from './indexed-text.ts'

/** The indexed content of a chunk. Computing it is most of the work, and needs no database. */
export interface Prepared {
  terms: string
  /** Undefined for a chunk without words, which can only be found by its terms. */
  vector: Vector | undefined
}

/** A chunk with a built-in vector. */
export type PreparedChunk = Chunk & Prepared

/** Chunks that are already prepared are kept; without `vector`, a chunk gets a built-in one. */
export function prepare(
  chunk: Pick<Chunk, 'content' | 'section'> | PreparedChunk,
  vector?: Vector,
): Prepared {
  if ('terms' in chunk) return chunk
  const { terms, searchable } = termsAndSearchableText(indexedText(chunk))
  return { terms: searchable, vector: vector ?? embedTerms(terms) }
}
