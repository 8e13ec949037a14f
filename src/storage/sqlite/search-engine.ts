import type { SearchEngine } from '../search-engine.ts'
import { rankByText, removeFullText, writeFullText } from './full-text.ts'
import { nearestByVector } from './nearest.ts'
import { countTerms } from './term-counts.ts'
import { createVectors, removeVectors, vectorTables, writeVector } from './vectors.ts'

/** Full text by FTS5, vectors by their sketches. */
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
