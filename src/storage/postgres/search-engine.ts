import type { SearchEngine } from '../search-engine.ts'
import { countTerms, rankByText, removeFullText, writeFullText } from './full-text.ts'
import { packIndexState } from './index-state.ts'
import { nearestByVector } from './nearest.ts'
import { createVectors, removeVectors, vectorTables, writeVector } from './vectors.ts'

/** Full text by tsvector, vectors by sketches of them. */
export const searchEngine: SearchEngine = {
  singleWriter: false,
  writeFullText,
  removeFullText,
  countTerms,
  rankByText,
  async createVectors(db, space) {
    await createVectors(db, space)
    // Each part of a source begins with this.
    await packIndexState(db)
  },
  writeVector,
  removeVectors,
  vectorTables,
  nearestByVector,
}
