import { hash } from 'node:crypto'
import type { QueryExecutorProvider } from 'kysely'
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { TermCounts } from '../search-engine.ts'
import { quoted } from './quoted.ts'

/** Of an index: as long as all of this is the same, so are its counts. */
interface State {
  file: string
  newest: number | null
  /** Its id, since another file may have the path of a former one, with as many chunks of the same lengths. */
  id: string | null
  /** What FTS5 writes with every change: its totals, and which segments it has, with the number of removals in each. */
  records: string | null
}

interface Counts {
  chunks: number
  terms: Map<string, number>
}

/** Counting the chunks that hold a frequent term takes as long as ranking them: so each thread remembers the last ones. */
const remembered = new LRUCache<string, Counts>({ max: 32 })
/** Terms of an index; then their counts are forgotten. */
const mostTerms = 2_000

export async function countTerms(
  db: QueryExecutorProvider,
  terms: readonly string[],
): Promise<Required<TermCounts>> {
  // Hashed, as the names of all that is remembered begin with it.
  const state = hash('sha256', Object.values(await stateOf(db)).join(' '))
  const known = remembered.get(state) ?? { chunks: await countChunks(db), terms: new Map<string, number>() }
  if (known.terms.size > mostTerms) known.terms.clear()
  for (const term of terms) if (!known.terms.has(term)) known.terms.set(term, await countHolding(db, term))
  remembered.set(state, known)
  const all = terms.map(term => [term, known.terms.get(term) ?? 0] as const)
  const counted = new Map(all.filter(([, holding]) => holding > 0))
  return { terms: counted, chunks: known.chunks, state }
}

async function stateOf(db: QueryExecutorProvider): Promise<State> {
  const { rows } = await sql<State>`
    select (select file from pragma_database_list where name = 'main') as file, newest,
      (select id from chunks where sequence = newest) as id,
      (select group_concat(hex(block)) from chunk_text_data where id in (1, 10)) as records
    from (select max(id) as newest from chunk_text_docsize)
  `.execute(db)
  const [state] = rows
  if (state === undefined) throw new Error('the state of the index gave no row')
  return state
}

async function countChunks(db: QueryExecutorProvider): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from chunk_text_docsize`.execute(db)
  return rows[0]?.count ?? 0
}

async function countHolding(db: QueryExecutorProvider, term: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from chunk_text where chunk_text match ${quoted(term)}`.execute(db)
  return rows[0]?.count ?? 0
}
