import type { SearchEngine } from '../search-engine.ts'
import { countTerms, rankByText, removeFullText, writeFullText } from './full-text.ts'
import { createVectors, nearestByVector, removeVectors, vectorTables, writeVector } from './vectors.ts'

/** Full text by FTS5, vectors by sqlite-vec. */
export const searchEngine: SearchEngine = {
  singleWriter: true,
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
