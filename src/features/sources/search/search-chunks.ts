import type { Kysely, Transaction } from 'kysely'
import { prepareQuery } from '#storage/prepared-query.ts'
import type { SearchDatabase, SearchEngine } from '#storage/search-engine.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { SearchResult } from '../sources.schema.ts'
import { groupDuplicates } from './duplicates.ts'
import type { Rankings, Scored } from './fusion.ts'
import { fuse, leastCandidates } from './fusion.ts'
import type { ChunkQuery } from './rankings.ts'
import { rankings } from './rankings.ts'
import { shownEmbeddings } from './shown-embeddings.ts'

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
  return await reading(db).execute(transaction => searchIn(transaction, engine, query))
}

export interface Search {
  query: ChunkQuery
  /** The embeddings that all shown chunks are believed to have, for which the query was made. */
  believed?: readonly string[]
}

/** The results, or where shown chunks have other embeddings than was believed, the names of those. */
export type SearchAnswer = { results: SearchResult[] } | { shown: string[] }

/** Searches one after the other that see the same state of the database; the answers are in their order. */
export async function searchTogether(
  { db, engine }: SearchDatabase,
  searches: readonly Search[],
): Promise<SearchAnswer[]> {
  return await reading(db).execute(async transaction => {
    const answers: SearchAnswer[] = []
    for (const search of searches) answers.push(await answerTo(transaction, engine, search))
    return answers
  })
}

async function answerTo(
  transaction: Transaction<AgentTables>,
  engine: SearchEngine,
  { query, believed }: Search,
): Promise<SearchAnswer> {
  if (believed !== undefined) {
    const shown = await shownEmbeddings(transaction)
    const isSo = shown.length === believed.length && shown.every((name, at) => name === believed[at])
    if (!isSo) return { shown }
  }
  return { results: await searchIn(transaction, engine, query) }
}

function reading(db: Kysely<AgentTables>) {
  return db.transaction().setAccessMode('read only')
}

async function searchIn(
  transaction: Transaction<AgentTables>,
  engine: SearchEngine,
  query: ChunkQuery,
): Promise<SearchResult[]> {
  const { limit, minScore = 0 } = query
  async function resultsOf(ranked: Rankings): Promise<SearchResult[]> {
    const fitting = fuse(ranked).filter(({ score }) => score >= minScore)
    return await readDistinct(transaction, fitting, limit)
  }
  const asked = { ...query, limit: limit + spare }
  const candidates = Math.max(leastCandidates, asked.limit)
  let ranked = await rankings(transaction, engine, asked, { candidates })
  let results = await resultsOf(ranked)
  // What can't come among the first by its rank may still score enough.
  if (results.length < limit && minScore > 0 && ranked.vectors.some(({ isOfText }) => isOfText)) {
    ranked = await rankings(transaction, engine, asked, { candidates, allVectors: true })
    results = await resultsOf(ranked)
  }
  if (results.length >= limit || !isCut(ranked, candidates, minScore)) return results
  const wider = Math.min(candidates * widening, mostCandidates)
  const options = { candidates: wider, allVectors: minScore > 0 }
  return await resultsOf(await rankings(transaction, engine, { ...query, limit: wider }, options))
}

/** How many times as many candidates there are on a second look, where those of the first were mostly duplicates. */
const widening = 4
/** Comparing the texts of these takes some tenths of a second. */
const mostCandidates = 1_600

/** Whether there may be more behind the end of a ranking that are good enough. */
function isCut({ text, vectors }: Rankings, candidates: number, minScore: number): boolean {
  return [text, ...vectors.map(({ found }) => found)].some(
    found => found.length >= candidates && (found.at(-1)?.similarity ?? 0) >= minScore,
  )
}

/** Reads on until there are as many results as wanted, duplicates not counted. */
async function readDistinct(
  transaction: Transaction<AgentTables>,
  ranked: readonly Scored[],
  limit: number,
): Promise<SearchResult[]> {
  const found: SearchResult[] = []
  // Ever more, since all that was read is compared anew each time.
  for (let [start, end] = [0, limit + spare]; ; [start, end] = [end, 2 * end]) {
    found.push(...(await read(transaction, ranked.slice(start, end))))
    const groups = groupDuplicates(found)
    if (groups.length < limit && end < ranked.length) continue
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
  const found: SearchResult[] = []
  for (let start = 0; start < ranked.length; start += rowsAtOnce)
    found.push(...(await readSome(transaction, ranked.slice(start, start + rowsAtOnce))))
  return found
}

/** As many as a search for ten results reads first. */
const rowsAtOnce = 20
const places = Array.from({ length: rowsAtOnce }, (_, place) => `sequence ${place}`)

const selectRows = prepareQuery((db: Kysely<AgentTables>, value) =>
  db
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
      places.map(place => value<number>(place)),
    ),
)

/** At most `rowsAtOnce` of them; where they are fewer, the last one is asked for again. */
async function readSome(
  transaction: Transaction<AgentTables>,
  ranked: readonly Scored[],
): Promise<SearchResult[]> {
  const sequences = places.map((place, index) => [place, (ranked[index] ?? ranked.at(-1))?.sequence])
  const rows = await selectRows(transaction, Object.fromEntries(sequences))
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
