/**
 * How many chunks hold a lexeme, and how long they are. Counting the chunks that hold a frequent lexeme takes as long as
 * ranking them, and so does counting all chunks of a large index: each thread remembers what it has counted.
 */
import type { QueryExecutorProvider } from 'kysely'
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { quoted } from './lexemes.ts'

/** Of an index: as long as all of this is the same, so are its counts. */
interface State {
  chunks: number
  /** Of all chunks together, in terms. */
  length: number
  newest: number
}

interface Remembered {
  state: State
  /** By `performance.now()`. */
  countedAt: number
  counts: Map<string, number>
}

/** By the database and the number of the table, which no other one gets. */
const remembered = new LRUCache<string, Remembered>({ max: 32 })
/** Lexemes of an index; then their counts are forgotten. */
const mostLexemes = 2_000

/** Above so many chunks a count may be some milliseconds' work, and some seconds old: it only weighs terms. */
const fewChunks = 10_000
const longestAge = 5_000

/** What was counted for a transaction, in which nothing changes. */
const ofTransactions = new WeakMap<QueryExecutorProvider, State>()

/** The number of chunks that hold each of the lexemes, which are all different, and the number of all chunks. */
export async function countLexemes(
  db: QueryExecutorProvider,
  lexemes: readonly string[],
): Promise<{ counts: ReadonlyMap<string, number>; chunks: number }> {
  const { state, counts: known } = await recall(db)
  // A lexeme that no chunk held may be that of a chunk that was just written, and must be found.
  const unknown = lexemes.filter(lexeme => !known.get(lexeme))
  const counted = unknown.length > 0 ? await count(db, unknown) : []
  const counts = new Map(lexemes.map(lexeme => [lexeme, known.get(lexeme) ?? 0]))
  for (const [index, lexeme] of unknown.entries()) counts.set(lexeme, counted[index] ?? 0)
  if (known.size > mostLexemes) known.clear()
  for (const [lexeme, holding] of counts) known.set(lexeme, holding)
  return { counts, chunks: state.chunks }
}

/** The average length of a chunk, in terms. */
export async function averageLength(db: QueryExecutorProvider): Promise<number> {
  const { chunks, length } = ofTransactions.get(db) ?? (await recall(db)).state
  return Math.max(1, length) / Math.max(1, chunks)
}

async function recall(db: QueryExecutorProvider): Promise<Remembered> {
  const { key, span } = await identify(db)
  const last = remembered.get(key)
  const isNew = last !== undefined && performance.now() - last.countedAt < longestAge
  const entry = isNew && span > fewChunks ? last : await countAgain(db, last)
  remembered.set(key, entry)
  if (isTransaction(db)) ofTransactions.set(db, entry.state)
  return entry
}

async function countAgain(db: QueryExecutorProvider, last: Remembered | undefined): Promise<Remembered> {
  const state = await stateOf(db)
  const counts = last !== undefined && isSame(state, last.state) ? last.counts : new Map<string, number>()
  return { state, counts, countedAt: performance.now() }
}

function isSame(one: State, other: State): boolean {
  return one.chunks === other.chunks && one.length === other.length && one.newest === other.newest
}

function isTransaction(db: QueryExecutorProvider): boolean {
  return 'isTransaction' in db && db.isTransaction === true
}

/** From both ends of an index, which takes no time; there are no more chunks than its span. */
async function identify(db: QueryExecutorProvider): Promise<{ key: string; span: number }> {
  const { rows } = await sql<{ key: string; span: number }>`
    select current_database() || ' ' || 'chunk_text'::regclass::oid as key,
      coalesce((select max(sequence) from chunk_text) - (select min(sequence) from chunk_text), 0) as span
  `.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('a question for the index gave no row')
  return row
}

async function stateOf(db: QueryExecutorProvider): Promise<State> {
  const { rows } = await sql<State>`
    select count(*) as chunks, coalesce(sum(length), 0) as length, coalesce(max(sequence), 0) as newest
    from chunk_text
  `.execute(db)
  const [state] = rows
  if (state === undefined) throw new Error('counting gave no row')
  return state
}

/** In the order of the lexemes. */
async function count(db: QueryExecutorProvider, lexemes: readonly string[]): Promise<number[]> {
  const { rows } = await sql<{ holding: number }>`
    select (select count(*) from chunk_text where terms @@ lexeme) as holding
    from unnest(${lexemes.map(quoted)}::tsquery[]) with ordinality as asked (lexeme, number) order by number
  `.execute(db)
  return rows.map(({ holding }) => holding)
}
