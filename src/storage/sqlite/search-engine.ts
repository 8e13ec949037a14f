import type { SearchEngine } from '../search/search-engine.ts'
import { rankByText, removeFullText, writeFullText } from './full-text/full-text.ts'
import { countTerms } from './full-text/term-counts.ts'
import { readSnapshot } from './snapshot.ts'
import { nearestByVector } from './vectors/nearest.ts'
import { createVectors, removeVectors, vectorTables, writeVectors } from './vectors/vectors.ts'

/** Searches text by FTS5, and vectors by their sketches. */
export const searchEngine: SearchEngine = {
  singleWriter: true,
  readSnapshot,
  writeFullText,
  removeFullText,
  countTerms,
  rankByText,
  createVectors,
  writeVectors,
  removeVectors,
  vectorTables,
  nearestByVector,
}
