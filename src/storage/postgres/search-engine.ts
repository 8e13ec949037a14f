import type { SearchEngine } from '../search/search-engine.ts'
import { countTerms, rankByText, removeFullText, writeFullText } from './full-text/full-text.ts'
import { packIndexState } from './full-text/index-state.ts'
import { packLists } from './full-text/packed-lists.ts'
import { nearestByVector } from './vectors/nearest.ts'
import { createVectors, removeVectors, vectorTables, writeVectors } from './vectors/vectors.ts'

/** Searches text by tsvector, and vectors by sketches of them. */
export const searchEngine: SearchEngine = {
  singleWriter: false,
  readSnapshot: (db, work) => db.transaction().setAccessMode('read only').execute(work),
  writeFullText,
  removeFullText,
  countTerms,
  rankByText,
  async createVectors(db, space) {
    await createVectors(db, space)
    // Each part of a source begins with this call; by then, many transactions might have added many chunks.
    if (await packIndexState(db)) await packLists(db)
  },
  writeVectors,
  removeVectors,
  vectorTables,
  nearestByVector,
}
