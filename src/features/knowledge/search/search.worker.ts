/** Runs in a thread of the worker pool; the other side is `search-index.ts`. */
import { withAgentDatabase } from '../indexing/agent-database.ts'
import type { SearchResult } from '../knowledge.schema.ts'
import type { ChunkQuery } from './rankings.ts'
import { searchChunks } from './search-chunks.ts'

export interface SearchTask {
  databasePath: string
  query: ChunkQuery
}

export function search({ databasePath, query }: SearchTask): Promise<SearchResult[]> {
  return withAgentDatabase(databasePath, { readOnly: true }, db => searchChunks(db, query))
}
