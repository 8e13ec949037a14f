/**
 * Full-text search over the chunks of an agent, with the lexemes of each in a `tsvector` and a GIN index on it. See
 * `search-engine.ts` for the contract of each function.
 *
 * PostgreSQL has no BM25. It finds the chunks that contain a lexeme, and its frequency there; search threads
 * cache these lists and add up the terms' scores.
 */
import { type QueryExecutorProvider, sql } from 'kysely'
import { createBest } from '../../search/best.ts'
import { essentialTerms } from '../../search/essential-terms.ts'
import type { Found, StoredText, TermCounts, TextQuery } from '../../search/search-engine.ts'
import { weightOf } from '../../search/term-weight.ts'
import { readSelection } from '../selection.ts'
import { neighbourhoodOf } from './chunk-places.ts'
import { createIndexState } from './index-state.ts'
import { type KeptIndex, keptIndex, postingsOf } from './kept-index.ts'
import { frequencies, indexedText, lexemeOf, quoted } from './lexemes.ts'
import { createPackedLists, frequencyBits, neighbourhoodForm } from './packed-lists.ts'
import type { Postings } from './postings.ts'

/** Creates the index, in the migration that creates the tables of knowledge. */
export async function createFullText(db: QueryExecutorProvider): Promise<void> {
  await createTable(db)
  await createIndexState(db)
  // Each look-up reads the index's whole pending list, so it must stay short, however late it is merged.
  await sql`create index chunk_text_terms on chunk_text using gin (terms)
    with (gin_pending_list_limit = 128)`.execute(db)
  await createPackedLists(db)
}

/**
 * Looking up the chunks that contain a lexeme reads their rows, so a page should hold many of them. Values are moved
 * out of a row (down to `toast_tuple_target`) only if the row exceeds 2 KB. The padding ensures that, and compresses to
 * nothing.
 */
async function createTable(db: QueryExecutorProvider): Promise<void> {
  await sql`create table chunk_text (
    sequence bigint references chunks (sequence) on delete cascade,
    length integer not null,
    terms tsvector not null,
    padding text not null default repeat(' ', 2048),
    constraint chunk_text_key primary key (sequence) include (length)
  ) with (toast_tuple_target = 128)`.execute(db)
  await sql`alter table chunk_text alter column terms set storage external`.execute(db)
}

export async function writeFullText(db: QueryExecutorProvider, texts: readonly StoredText[]): Promise<void> {
  if (texts.length === 0) return
  const rows = texts.map(({ sequence, text }) => {
    const { terms, length } = indexedText(text)
    const place = quoted(neighbourhoodForm(neighbourhoodOf(sequence)))
    return sql`(${sequence}, ${`${terms} ${place}`}, ${length})`
  })
  await sql`insert into chunk_text (sequence, terms, length) values ${sql.join(rows)}`.execute(db)
}

export async function removeFullText(db: QueryExecutorProvider, sequence: number): Promise<void> {
  await sql`delete from chunk_text where sequence = ${sequence}`.execute(db)
}

export async function countTerms(db: QueryExecutorProvider, terms: readonly string[]): Promise<TermCounts> {
  const index = await keptIndex(db)
  const lists = await listsOf(db, index, terms)
  const counts = terms.map(term => [term, lists.get(lexemeOf(term))?.length ?? 0] as const)
  return { terms: new Map(counts.filter(([, count]) => count > 0)), chunks: index.state.chunks }
}

async function listsOf(
  db: QueryExecutorProvider,
  index: KeptIndex,
  terms: readonly string[],
): Promise<Map<string, Postings>> {
  const lexemes = [...new Set(terms.map(lexemeOf))].filter(lexeme => lexeme !== '')
  return await postingsOf(db, index, lexemes)
}

export async function rankByText(db: QueryExecutorProvider, query: TextQuery): Promise<Found[]> {
  const { terms, chunks, limit } = query
  if (terms.size === 0) return []
  const { essential, others } = essentialTerms(query)
  const counted = [...essential, ...others]
  const index = await keptIndex(db)
  const lists = await listsOf(
    db,
    index,
    counted.map(([term]) => term),
  )
  const within = await readSelection(db, query.within)
  const values = new Float32Array(index.sequences.length)
  for (const [term, holding] of counted)
    addValues(values, index, lists.get(lexemeOf(term)), weightOf(holding, chunks))
  const full = Iterator.from(terms.values()).reduce((sum, holding) => sum + weightOf(holding, chunks), 0)
  return bestOf(index, values, limit, within && new Set(within)).map(({ sequence, value }) => ({
    sequence,
    similarity: Math.min(1, value / full),
  }))
}

/** Parameters of BM25, with the same values as in SQLite's full-text index. */
const [saturation, lengthShare] = [1.2, 0.75]

/** Adds one term's score for each chunk that contains it, by the chunk's number. */
function addValues(
  values: Float32Array,
  { lengths, state }: KeptIndex,
  list: Postings | undefined,
  weight: number,
): void {
  if (list === undefined) return
  const most = weight * (saturation + 1)
  const least = saturation * (1 - lengthShare)
  const share = (saturation * lengthShare * state.chunks) / Math.max(1, state.length)
  for (const entry of list) {
    const number = entry >>> frequencyBits
    const frequency = frequencies[entry & (frequencies.length - 1)] ?? 0
    const value = (most * frequency) / (frequency + least + share * (lengths[number] ?? 0))
    values[number] = (values[number] ?? 0) + value
  }
}

function bestOf(
  { sequences }: KeptIndex,
  values: Float32Array,
  limit: number,
  within: ReadonlySet<number> | undefined,
) {
  const best = createBest(limit)
  let least = best.least()
  // A plain loop, because a call for each value would take several times as long.
  for (let number = 0; number < values.length; number += 1) {
    const value = values[number] ?? 0
    if (value === 0 || value < least) continue
    const sequence = sequences[number] ?? 0
    if (within?.has(sequence) === false) continue
    best.add(sequence, value)
    least = best.least()
  }
  return best.sorted()
}
