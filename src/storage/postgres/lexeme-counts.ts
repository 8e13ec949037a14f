import type { QueryExecutorProvider } from 'kysely'
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { quoted } from './lexemes.ts'

/** Of an index: as long as all of this is the same, so are its counts. */
interface State {
  database: string
  table: number
  chunks: number
  length: number | null
  newest: number | null
}

/**
 * Counting the chunks that hold a frequent lexeme takes as long as ranking them, and the frequent ones come in many
 * queries: so each thread remembers the counts of the indexes that it searched last, as long as those do not change.
 */
const remembered = new LRUCache<string, Map<string, number>>({ max: 32 })
/** Lexemes of an index; then their counts are forgotten. */
const mostLexemes = 2_000

/** The number of chunks that hold each of the lexemes, which are all different, and the number of all chunks. */
export async function countLexemes(
  db: QueryExecutorProvider,
  lexemes: readonly string[],
): Promise<{ counts: ReadonlyMap<string, number>; chunks: number }> {
  const state = await stateOf(db)
  const key = Object.values(state).join(' ')
  const known = remembered.get(key) ?? new Map<string, number>()
  const unknown = lexemes.filter(lexeme => !known.has(lexeme))
  const counted = unknown.length > 0 ? await count(db, unknown) : []
  const counts = new Map(lexemes.map(lexeme => [lexeme, known.get(lexeme) ?? 0]))
  for (const [index, lexeme] of unknown.entries()) counts.set(lexeme, counted[index] ?? 0)
  remembered.set(key, known.size > mostLexemes ? counts : new Map([...known, ...counts]))
  return { counts, chunks: state.chunks }
}

async function stateOf(db: QueryExecutorProvider): Promise<State> {
  const { rows } = await sql<State>`
    select current_database() as database, 'chunk_text'::regclass::oid as table,
      count(*) as chunks, sum(length) as length, max(sequence) as newest from chunk_text
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
