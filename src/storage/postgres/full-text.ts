/**
 * Full-text search over the chunks of an agent, by the lexemes of each in a `tsvector` and a GIN index of them. The
 * contract of each function stands in `search-engine.ts`.
 *
 * PostgreSQL has no BM25, but a rank of one lexeme by the label of its position: with labels that tell how often the
 * lexeme stands in the chunk, and weights that are computed from the chunk's length, it is the lexeme's part of BM25.
 */
import type { QueryExecutorProvider } from 'kysely'
import { sql } from 'kysely'
import type { CountedTerm } from '../essential-terms.ts'
import { essentialTerms, mayMissSome } from '../essential-terms.ts'
import type { Found, TermCounts, TextQuery } from '../search-engine.ts'
import { averageLength, countLexemes } from './lexeme-counts.ts'
import { frequencies, indexedText, lexemeOf, quoted } from './lexemes.ts'

/** For the migration that makes the tables. */
export async function createFullText(db: QueryExecutorProvider): Promise<void> {
  // The key's index tells the average length without a look at the rows.
  await sql`create table chunk_text (
    sequence bigint references chunks (sequence) on delete cascade,
    terms tsvector not null,
    length integer not null,
    primary key (sequence) include (length)
  )`.execute(db)
  // Each search reads all that waits to be sorted into the index: it must not be much, whenever that is done.
  await sql`create index chunk_text_terms on chunk_text using gin (terms) with (gin_pending_list_limit = 1024)`.execute(
    db,
  )
}

export async function writeFullText(
  db: QueryExecutorProvider,
  sequence: number,
  text: string,
): Promise<void> {
  const { terms, length } = indexedText(text)
  await sql`insert into chunk_text (sequence, terms, length) values (${sequence}, ${terms}, ${length})`.execute(
    db,
  )
}

export async function removeFullText(db: QueryExecutorProvider, sequence: number): Promise<void> {
  await sql`delete from chunk_text where sequence = ${sequence}`.execute(db)
}

export async function countTerms(db: QueryExecutorProvider, terms: readonly string[]): Promise<TermCounts> {
  const lexemes = terms.map(lexemeOf)
  const different = [...new Set(lexemes)].filter(lexeme => lexeme !== '')
  const { counts, chunks } = await countLexemes(db, different)
  const found = terms.map((term, index) => [term, counts.get(lexemes[index] ?? '') ?? 0] as const)
  return { terms: new Map(found.filter(([, count]) => count > 0)), chunks }
}

export async function rankByText(db: QueryExecutorProvider, query: TextQuery): Promise<Found[]> {
  const { terms, chunks } = query
  if (terms.size === 0) return []
  const { essential, others } = essentialTerms(query)
  const all = [...essential, ...others]
  const first = await rankMatching(db, query, essential, all)
  const isWhole = !mayMissSome(first, others, holding => weightOf(holding, chunks))
  const rows = isWhole ? first : await rankMatching(db, query, all, all)
  const full = Iterator.from(terms.values()).reduce((sum, holding) => sum + weightOf(holding, chunks), 0)
  return rows.map(({ sequence, value }) => ({ sequence, similarity: Math.min(1, value / full) }))
}

/** The chunks that hold any of the terms `required`, by what all those in `counted` are worth. */
async function rankMatching(
  db: QueryExecutorProvider,
  { chunks, limit, within }: TextQuery,
  required: readonly CountedTerm[],
  counted: readonly CountedTerm[],
): Promise<{ sequence: number; value: number }[]> {
  const match = [...weightsOf(required, chunks).keys()].map(quoted).join(' | ')
  const parts = [...weightsOf(counted, chunks)].map(
    ([lexeme, weight]) => sql`${weight}::float8 * ts_rank(weights, terms, ${quoted(lexeme)}::tsquery)`,
  )
  const filter = within === undefined ? sql`` : sql`and sequence in ${within}`
  const norm = lengthNorm(await averageLength(db))
  const { rows } = await sql<{ sequence: number; value: number }>`
    select sequence, ${float(rankUnit)} * (${sql.join(parts, sql` + `)}) as value
    from (
      select sequence, terms, ${weights} as weights
      from chunk_text, lateral (select ${norm} as norm) as norms
      where terms @@ ${match}::tsquery ${filter} offset 0
    ) as matching
    order by value desc, sequence limit ${limit}
  `.execute(db)
  return rows
}

/** Of BM25, with the values that SQLite's full-text index has for them. */
const [k1, b] = [1.2, 0.75]

/** What a chunk's length takes from its lexemes: the more, the longer it is. */
function lengthNorm(average: number) {
  return sql`${float(k1 * (1 - b))} + ${float((k1 * b) / average)} * chunk_text.length`
}

/** BM25's part of one lexeme for each label, D to A, as a share of the most that any may have. */
const weights = sql`array[${sql.join(
  Object.values(frequencies).map(frequency => sql`${float(frequency)} / (${float(frequency)} + norm)`),
)}]::real[]`

/** `ts_rank` divides by the limit of the sum of 1/n²; the weights are shares of k1 + 1. */
const rankUnit = 1.64493406685 * (k1 + 1)

/** Plain numbers of SQL are decimals, with which PostgreSQL computes slowly. */
function float(value: number) {
  return sql`${sql.lit(value)}::float8`
}

/** The lexemes of the terms; one that several terms have weighs as much as they do together. */
function weightsOf(terms: readonly CountedTerm[], chunks: number): Map<string, number> {
  const weights = new Map<string, number>()
  for (const [term, holding] of terms) {
    const lexeme = lexemeOf(term)
    weights.set(lexeme, (weights.get(lexeme) ?? 0) + weightOf(holding, chunks))
  }
  return weights
}

/** The inverse document frequency as SQLite counts it: words in more than half of the chunks weigh next to nothing. */
function weightOf(holding: number, chunks: number): number {
  return Math.max(1e-6, Math.log((chunks - holding + 0.5) / (holding + 0.5)))
}
