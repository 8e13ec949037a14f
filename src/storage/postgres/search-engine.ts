import type { SearchEngine } from '../search-engine.ts'
import { countTerms, rankByText, removeFullText, writeFullText } from './full-text.ts'
import { nearestByVector } from './nearest.ts'
import { createVectors, removeVectors, vectorTables, writeVector } from './vectors.ts'

/** Full text by tsvector, vectors by sketches of them. */
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
