import type { Kysely, Transaction } from 'kysely'
import { prepareQuery } from '#platform/prepared-query.ts'
import type { SearchDatabase, SearchEngine } from '#storage/search/search-engine.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { SearchResult } from '../knowledge.schema.ts'
import { groupDuplicates } from './duplicates.ts'
import { type Exact, exactFirst, exactSpellings } from './exact-spellings.ts'
import { fuse, minCandidates, type Rankings, type Scored } from './fusion.ts'
import { putListingsLast } from './listings.ts'
import { type ChunkQuery, rankings } from './rankings.ts'
import { shownEmbeddings } from './shown-embeddings.ts'

/**
 * Returns the chunks that match a query, best first. No text of the query is an operator. Of chunks with
 * practically the same text, the best is a result, and lists the others.
 *
 * The score is the similarity of a chunk to the query, the greater one by words or vectors. By words: its
 * BM25 score as a share of that of a chunk with each known word once, times the share of the query's words
 * (weighted by rarity) that occur in any chunk. By vectors: the cosine. A chunk with fewer of the query's
 * codes, dates, names and phrases loses a part of it. A chunk's score is at least that of the chunks below
 * it.
 */
export async function searchChunks(
  { db, engine }: SearchDatabase,
  query: ChunkQuery,
): Promise<SearchResult[]> {
  return await engine.readSnapshot(db, snapshot => searchIn(snapshot, engine, query))
}

export interface Search {
  query: ChunkQuery
  /** The expected embeddings of all shown chunks, for which the query was prepared. */
  expected?: readonly string[]
}

/** The results, or the names of other embeddings that the shown chunks have. */
export type SearchAnswer = { results: SearchResult[] } | { current: string[] }

/** Runs searches one after another on the same snapshot of the database; the answers are in the same order. */
export async function searchTogether(
  { db, engine }: SearchDatabase,
  searches: readonly Search[],
): Promise<SearchAnswer[]> {
  return await engine.readSnapshot(db, async snapshot => {
    const answers: SearchAnswer[] = []
    for (const search of searches) answers.push(await answerTo(snapshot, engine, search))
    return answers
  })
}

async function answerTo(
  transaction: Transaction<AgentTables>,
  engine: SearchEngine,
  { query, expected }: Search,
): Promise<SearchAnswer> {
  if (expected !== undefined) {
    const current = await shownEmbeddings(transaction)
    const isSo = current.length === expected.length && current.every((name, at) => name === expected[at])
    if (!isSo) return { current }
  }
  return { results: await searchIn(transaction, engine, query) }
}

async function searchIn(
  transaction: Transaction<AgentTables>,
  engine: SearchEngine,
  query: ChunkQuery,
): Promise<SearchResult[]> {
  const { limit, minScore = 0 } = query
  const exact = exactSpellings(query.text)
  async function resultsOf(ranked: Rankings): Promise<SearchResult[]> {
    const ordered = await putExactFirst(transaction, fuse(ranked), exact)
    const fitting = ordered.filter(({ score }) => score >= minScore)
    return await readDistinct(transaction, fitting, limit)
  }
  const padded = { ...query, limit: limit + overfetch }
  const candidates = Math.max(minCandidates, padded.limit)
  let ranked = await rankings(transaction, engine, padded, { candidates })
  let results = await resultsOf(ranked)
  // A chunk that cannot be among the first by rank can still score enough.
  if (results.length < limit && minScore > 0 && ranked.vectors.some(({ isOfText }) => isOfText)) {
    ranked = await rankings(transaction, engine, padded, { candidates, allVectors: true })
    results = await resultsOf(ranked)
  }
  if (results.length >= limit || !isCut(ranked, candidates, minScore)) return results
  const wider = Math.min(candidates * widening, maxCandidates)
  const options = { candidates: wider, allVectors: minScore > 0 }
  return await resultsOf(await rankings(transaction, engine, { ...query, limit: wider }, options))
}

async function putExactFirst(
  transaction: Transaction<AgentTables>,
  ranked: readonly Scored[],
  exact: readonly Exact[],
): Promise<readonly Scored[]> {
  if (exact.length === 0 || ranked.length === 0) return ranked
  const rows = await transaction
    .selectFrom('chunks')
    .select(['sequence', 'section', 'content'])
    .where(
      'sequence',
      'in',
      ranked.map(({ sequence }) => sequence),
    )
    .execute()
  const texts = new Map(
    rows.map(({ sequence, section, content }) => [Number(sequence), `${section ?? ''}\n${content}`]),
  )
  return exactFirst(ranked, exact, sequence => texts.get(sequence))
}

/** Factor by which candidates increase for a second read, if those of the first were mostly duplicates. */
const widening = 4
/** Comparing this many texts takes some tenths of a second. */
const maxCandidates = 1_600

/** True if there might be more good matches beyond the end of a ranking. */
function isCut({ text, vectors }: Rankings, candidates: number, minScore: number): boolean {
  return [text, ...vectors.map(({ found }) => found)].some(
    found => found.length >= candidates && (found.at(-1)?.similarity ?? 0) >= minScore,
  )
}

/** Reads on until there are enough results, not counting duplicates. */
async function readDistinct(
  transaction: Transaction<AgentTables>,
  ranked: readonly Scored[],
  limit: number,
): Promise<SearchResult[]> {
  const found: SearchResult[] = []
  // Steps grow because everything read so far is compared again each time.
  for (let [start, end] = [0, limit + overfetch]; ; [start, end] = [end, 2 * end]) {
    found.push(...(await read(transaction, ranked.slice(start, end))))
    const groups = groupDuplicates(found)
    if (groups.length < limit && end < ranked.length) continue
    const results = groups.map(({ first, duplicates }) => withDuplicates(first, duplicates))
    return putListingsLast(results).slice(0, limit)
  }
}

/** Number of chunks to read in addition because some will be duplicates. */
const overfetch = 10

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

/** Same as a search for ten results reads first. */
const rowsAtOnce = 20
const places = Array.from({ length: rowsAtOnce }, (_, place) => `sequence ${place}`)

/**
 * Selects by subqueries instead of joins: without statistics, which small tables never get, PostgreSQL would
 * begin with the sources and read all these chunks for each of them.
 */
const selectRows = prepareQuery((db: Kysely<AgentTables>, value) =>
  db
    .selectFrom('chunks')
    .select(['sequence', 'id', 'source_id', 'content', 'page', 'section', 'start_offset', 'end_offset'])
    .select(({ selectFrom, case: when }) => [
      selectFrom('sources')
        .select('name')
        .whereRef('sources.id', '=', 'chunks.source_id')
        .where('removed_at', 'is', null)
        .as('source_name'),
      when()
        .when('document', '<>', '')
        .then(
          selectFrom('crawl_pages')
            .select('url')
            .whereRef('crawl_pages.source_id', '=', 'chunks.source_id')
            .whereRef('crawl_pages.document', '=', 'chunks.document'),
        )
        .end()
        .as('url'),
    ])
    .where(
      'sequence',
      'in',
      places.map(place => value<number>(place)),
    ),
)

/** Reads up to `rowsAtOnce` of them; if there are fewer, the last one is repeated. */
async function readSome(
  transaction: Transaction<AgentTables>,
  ranked: readonly Scored[],
): Promise<SearchResult[]> {
  const sequences = places.map((place, index) => [place, (ranked[index] ?? ranked.at(-1))?.sequence])
  const rows = await selectRows(transaction, Object.fromEntries(sequences))
  const bySequence = new Map(rows.map(row => [Number(row.sequence), row]))
  return ranked.flatMap(({ sequence, score }) => {
    const row = bySequence.get(sequence)
    // A source without a name is being removed.
    if (row === undefined || row.source_name === null) return []
    const { id, source_id, content, source_name, page, section, url } = row
    const place = { page, section, start: row.start_offset, end: row.end_offset }
    const metadata = { source_name, ...place, ...(url !== null && { url }) }
    return [{ id, source_id, content, score, metadata }]
  })
}
