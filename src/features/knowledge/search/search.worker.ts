/** Runs in a thread of the worker pool; called by `search-index.ts`. */
import { withAgentDatabase } from '../indexing/agent-database.ts'
import { type Search, type SearchAnswer, searchTogether } from './search-chunks.ts'

export interface SearchTask {
  databasePath: string
  searches: readonly Search[]
}

export function search({ databasePath, searches }: SearchTask): Promise<SearchAnswer[]> {
  return withAgentDatabase(databasePath, { readOnly: true }, db => searchTogether(db, searches))
}
