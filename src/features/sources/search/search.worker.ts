/** What runs in a thread of the worker pool; the other side is `search-index.ts`. */
import type { SearchResult } from '../sources.schema.ts'
import { withAgentDatabase } from './agent-database.ts'
import type { ChunkQuery } from './rankings.ts'
import type { EmbeddedAnswer } from './search-chunks.ts'
import { searchChunks, searchEmbedded } from './search-chunks.ts'

export interface SearchTask {
  databasePath: string
  query: ChunkQuery
}

export interface EmbeddedTask extends SearchTask {
  /** The embeddings that the query was made for. */
  believed: readonly string[]
}

export function search({ databasePath, query }: SearchTask): Promise<SearchResult[]> {
  return withAgentDatabase(databasePath, { readOnly: true }, db => searchChunks(db, query))
}

export function searchAsBelieved({ databasePath, query, believed }: EmbeddedTask): Promise<EmbeddedAnswer> {
  return withAgentDatabase(databasePath, { readOnly: true }, db => searchEmbedded(db, query, believed))
}
