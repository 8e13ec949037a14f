import type { SearchEngine } from '../search-engine.ts'
import { countTerms, rankByText, removeFullText, writeFullText } from './full-text.ts'
import { createVectors, nearestByVector, removeVectors, vectorTables, writeVector } from './vectors.ts'

/** Full text by tsvector, vectors by bit strings and pgvector. */
export const searchEngine: SearchEngine = {
  singleWriter: false,
  writeFullText,
  removeFullText,
  countTerms,
  rankByText,
  createVectors,
  writeVector,
  removeVectors,
  vectorTables,
  nearestByVector,
}
