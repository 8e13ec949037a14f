import type { Transaction } from 'kysely'
import type { SearchDatabase } from '#storage/search-engine.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { SearchResult } from '../sources.schema.ts'
import { groupDuplicates } from './duplicates.ts'
import type { Scored } from './fusion.ts'
import { fuse } from './fusion.ts'
import type { ChunkQuery } from './rankings.ts'
import { rankings } from './rankings.ts'

/**
 * The chunks that fit a query, best first. Nothing in the query's text is an operator. Of chunks with as good as the same
 * text the best one is a result, which names the others.
 *
 * The score tells how similar a chunk is to the query, by words or by vectors, whichever is more. By words: its BM25 value
 * as a share of what a chunk that holds each known word once gets, times the share of the query's words (by rarity) that
 * any chunk holds. By vectors: the cosine. A chunk scores at least as much as those below it.
 */
export async function searchChunks(
  { db, engine }: SearchDatabase,
  query: ChunkQuery,
): Promise<SearchResult[]> {
  return await db
    .transaction()
    .setAccessMode('read only')
    .execute(async transaction => {
      const { limit, minScore = 0 } = query
      const fused = fuse(await rankings(transaction, engine, query))
      const fitting = fused.filter(({ score }) => score >= minScore)
      return await readDistinct(transaction, fitting, limit)
    })
}

/** Reads on until there are as many results as wanted, duplicates not counted. */
async function readDistinct(
  transaction: Transaction<AgentTables>,
  ranked: readonly Scored[],
  limit: number,
): Promise<SearchResult[]> {
  const found: SearchResult[] = []
  const step = limit + spare
  for (let start = 0; ; start += step) {
    found.push(...(await read(transaction, ranked.slice(start, start + step))))
    const groups = groupDuplicates(found, ({ content }) => content)
    if (groups.length < limit && start + step < ranked.length) continue
    return groups.slice(0, limit).map(({ first, duplicates }) => withDuplicates(first, duplicates))
  }
}

/** Chunks that are read beyond those wanted, since some will turn out to be duplicates. */
const spare = 10

function withDuplicates(result: SearchResult, duplicates: readonly SearchResult[]): SearchResult {
  if (duplicates.length === 0) return result
  const places = duplicates.map(({ id, source_id, metadata }) => ({ id, source_id, ...metadata }))
  return { ...result, metadata: { ...result.metadata, duplicates: places } }
}

async function read(
  transaction: Transaction<AgentTables>,
  ranked: readonly Scored[],
): Promise<SearchResult[]> {
  if (ranked.length === 0) return []
  const rows = await transaction
    .selectFrom('chunks')
    .innerJoin('sources', 'sources.id', 'chunks.source_id')
    .select(['chunks.sequence', 'chunks.id', 'chunks.source_id', 'content', 'page', 'section'])
    .leftJoin('crawl_pages', join =>
      join
        .onRef('crawl_pages.source_id', '=', 'chunks.source_id')
        .onRef('crawl_pages.document', '=', 'chunks.document'),
    )
    .select(['start_offset', 'end_offset', 'sources.name as source_name', 'crawl_pages.url'])
    .where('removed_at', 'is', null)
    .where(
      'chunks.sequence',
      'in',
      ranked.map(({ sequence }) => sequence),
    )
    .execute()
  const bySequence = new Map(rows.map(row => [Number(row.sequence), row]))
  return ranked.flatMap(({ sequence, score }) => {
    const row = bySequence.get(sequence)
    if (row === undefined) return []
    const { id, source_id, content, source_name, page, section, url } = row
    const place = { page, section, start: row.start_offset, end: row.end_offset }
    const metadata = { source_name, ...place, ...(url !== null && { url }) }
    return [{ id, source_id, content, score, metadata }]
  })
}
