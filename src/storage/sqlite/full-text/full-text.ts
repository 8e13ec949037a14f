/**
 * Full-text search over the chunks of an agent, in an FTS5 index that stores no text of its own. Callers pass text
 * already split into terms; the index stems English terms and compares the others as they are. See `search-engine.ts`
 * for the contract of each function.
 */
import { type QueryExecutorProvider, sql } from 'kysely'
import { type CountedTerm, essentialTerms, mayMissSome } from '../../search/essential-terms.ts'
import type { Found, StoredText, TextQuery } from '../../search/search-engine.ts'
import { weightOf } from '../../search/term-weight.ts'
import { quoted } from '../quoted.ts'
import { runText } from '../run-text.ts'
import { memberOf, readSelection } from '../selection.ts'
import { bestOf } from './best-postings.ts'
import { stateOf } from './index-state.ts'
import { postingsOf } from './postings.ts'
import { tokenizer } from './tokens.ts'

/** Creates the index, in the migration that creates the tables. */
export async function createFullText(db: QueryExecutorProvider): Promise<void> {
  await sql`create virtual table chunk_text using fts5(
    terms, content = '', contentless_delete = 1, tokenize = ${sql.lit(tokenizer)}
  )`.execute(db)
}

export async function writeFullText(db: QueryExecutorProvider, texts: readonly StoredText[]): Promise<void> {
  for (const { sequence, text } of texts)
    await runText(db, 'insert into chunk_text (rowid, terms) values (?, ?)', sequence, text)
}

export async function removeFullText(db: QueryExecutorProvider, sequence: number): Promise<void> {
  await sql`delete from chunk_text where rowid = ${sequence}`.execute(db)
}

export async function rankByText(db: QueryExecutorProvider, query: TextQuery): Promise<Found[]> {
  const { terms } = query
  if (terms.size === 0) return []
  const { essential, others } = essentialTerms(query)
  const state = await stateOf(db)
  const lists = await postingsOf(db, state, [...essential, ...others])
  // The ranking's number of chunks, because a similarity is a share of its weights: FTS5 counts removed ones.
  const chunks = lists === undefined ? state.totals.chunks : state.chunks
  const rows =
    lists === undefined
      ? await rankByIndex(db, { ...query, chunks }, essential, others)
      : bestOf(lists, query.limit, await filterOf(db, query))
  const full = Iterator.from(terms.values()).reduce((sum, holding) => sum + weightOf(holding, chunks), 0)
  return rows.map(({ sequence, value }) => ({ sequence, similarity: Math.min(1, value / full) }))
}

interface Ranked {
  sequence: number
  value: number
}

async function filterOf(db: QueryExecutorProvider, { within }: TextQuery) {
  return within === undefined ? () => true : memberOf(await readSelection(db, within))
}

async function rankByIndex(
  db: QueryExecutorProvider,
  query: TextQuery,
  essential: readonly CountedTerm[],
  others: readonly CountedTerm[],
): Promise<Ranked[]> {
  const first = await rankMatching(db, query, matchOf(essential, others))
  const isWhole = !mayMissSome(first, others, holding => weightOf(holding, query.chunks))
  return isWhole ? first : await rankMatching(db, query, matchOf([...essential, ...others], []))
}

interface Match {
  expression: string
  /** The number of times that the expression names each term, which is the factor of BM25. */
  times: number
}

/**
 * FTS5 has no optional terms that count towards the score. But it adds up every term that a query names: with the
 * essential ones named once in the condition and once among the optional terms, and each of the others named twice,
 * every term counts double.
 */
function matchOf(essential: readonly CountedTerm[], others: readonly CountedTerm[]): Match {
  const any = (terms: readonly CountedTerm[]) => terms.map(([term]) => quoted(term)).join(' OR ')
  if (others.length === 0) return { expression: any(essential), times: 1 }
  return { expression: `(${any(essential)}) AND (${any([...essential, ...others, ...others])})`, times: 2 }
}

async function rankMatching(
  db: QueryExecutorProvider,
  { limit, within }: TextQuery,
  { expression, times }: Match,
): Promise<Ranked[]> {
  // The unary plus stops SQLite from running the whole match once for each selected sequence.
  const filter = within === undefined ? sql`` : sql`and +rowid in ${within}`
  // By `bm25()` rather than `rank`, which would sort all matches instead of keeping the best few.
  const { rows } = await sql<Ranked>`
    select rowid as sequence, -bm25(chunk_text) / ${times} as value from chunk_text
    where chunk_text match ${expression} ${filter} order by bm25(chunk_text) limit ${limit}
  `.execute(db)
  return rows
}
