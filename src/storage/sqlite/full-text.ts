/**
 * Full-text search over the chunks of an agent, in an FTS5 index that holds no text of its own. Callers pass terms that
 * are already taken apart; the index stems English ones and compares the rest as they are. The contract of each function
 * stands in `search-engine.ts`.
 */
import type { Expression, QueryExecutorProvider } from 'kysely'
import { sql } from 'kysely'
import type { Found, TextQuery } from '../search-engine.ts'

/** Marks stay parts of words (Hindi and Thai vowels are marks); the callers have removed those that are to be ignored. */
const tokenizer = `porter unicode61 remove_diacritics 0 categories 'L* N* Co M*'`

/** For the migration that makes the tables. */
export async function createFullText(db: QueryExecutorProvider): Promise<void> {
  await sql`create virtual table chunk_text using fts5(
    terms, content = '', contentless_delete = 1, tokenize = ${sql.lit(tokenizer)}
  )`.execute(db)
}

export async function writeFullText(
  db: QueryExecutorProvider,
  sequence: number,
  text: string,
): Promise<void> {
  await sql`insert into chunk_text (rowid, terms) values (${sequence}, ${text})`.execute(db)
}

export async function removeFullText(db: QueryExecutorProvider, sequence: number): Promise<void> {
  await sql`delete from chunk_text where rowid = ${sequence}`.execute(db)
}

export async function countTerms(
  db: QueryExecutorProvider,
  terms: readonly string[],
): Promise<Pick<TextQuery, 'terms' | 'chunks'>> {
  const found = new Map<string, number>()
  for (const term of terms) {
    const holding = await count(db, sql`where chunk_text match ${quoted(term)}`)
    if (holding > 0) found.set(term, holding)
  }
  return { terms: found, chunks: await count(db, sql``) }
}

async function count(db: QueryExecutorProvider, where: Expression<unknown>): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from chunk_text ${where}`.execute(db)
  return rows[0]?.count ?? 0
}

export async function rankByText(db: QueryExecutorProvider, query: TextQuery): Promise<Found[]> {
  const { terms, chunks, limit, within } = query
  if (terms.size === 0) return []
  const match = selective(query).map(quoted).join(' OR ')
  // The unary plus keeps SQLite from running the whole match once for each sequence of the selection.
  const filter = within === undefined ? sql`` : sql`and +rowid in ${within}`
  // By `bm25()` and not by `rank`, which would sort all that was found instead of keeping the best few.
  const { rows } = await sql<{ sequence: number; value: number }>`
    select rowid as sequence, -bm25(chunk_text) as value from chunk_text
    where chunk_text match ${match} ${filter} order by bm25(chunk_text) limit ${limit}
  `.execute(db)
  const full = Iterator.from(terms.values()).reduce((sum, holding) => sum + weightOf(holding, chunks), 0)
  return rows.map(({ sequence, value }) => ({ sequence, similarity: Math.min(1, value / full) }))
}

/**
 * The terms without those that weigh next to nothing, as they stand in every second chunk, provided that one of the rest
 * finds enough: the order stays the same, and most chunks need no look.
 */
function selective({ terms, chunks, limit }: TextQuery): string[] {
  const rest = [...terms].filter(([, holding]) => holding <= chunks / 2)
  const enough = rest.some(([, holding]) => holding >= limit)
  return enough ? rest.map(([term]) => term) : [...terms.keys()]
}

/** The inverse document frequency as FTS5 counts it: words in more than half of the chunks weigh next to nothing. */
function weightOf(holding: number, chunks: number): number {
  return Math.max(1e-6, Math.log((chunks - holding + 0.5) / (holding + 0.5)))
}

/** A string of FTS5's query language: nothing in it is an operator. */
function quoted(term: string): string {
  return `"${term.replaceAll('"', '""')}"`
}
