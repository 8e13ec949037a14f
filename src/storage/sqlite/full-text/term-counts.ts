import type { QueryExecutorProvider } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { TermCounts } from '../../search/search-engine.ts'
import { quoted } from '../quoted.ts'
import { runText } from '../run-text.ts'
import type { IndexState } from './index-state.ts'
import { stateOf } from './index-state.ts'
import { countByPostings } from './postings.ts'

/** All of this is valid as long as the state of the index is the same. */
interface Counts {
  state: IndexState
  chunks: number
  terms: Map<string, number>
}

/** Counting the chunks that contain a frequent term takes as long as ranking them, so each thread caches the latest counts. */
const remembered = new LRUCache<string, Counts>({ max: 32 })
/** Maximum number of terms per index; beyond, their counts are dropped. */
const mostTerms = 2_000

export async function countTerms(
  db: QueryExecutorProvider,
  terms: readonly string[],
): Promise<Required<TermCounts>> {
  const state = await stateOf(db)
  const known = remembered.get(state.name) ?? { state, chunks: await countChunks(db), terms: new Map() }
  if (known.terms.size > mostTerms) known.terms.clear()
  await countMissing(
    db,
    known,
    terms.filter(term => !known.terms.has(term)),
  )
  remembered.set(state.name, known)
  const all = terms.map(term => [term, known.terms.get(term) ?? 0] as const)
  const counted = new Map(all.filter(([, holding]) => holding > 0))
  return { terms: counted, chunks: known.chunks, state: state.name }
}

/** The state of that name, while its counts are cached. */
export function stateNamed(name: string): IndexState | undefined {
  return remembered.get(name)?.state
}

async function countMissing(
  db: QueryExecutorProvider,
  { state, terms: counts }: Counts,
  terms: readonly string[],
): Promise<void> {
  const short = await countByPostings(db, state, terms)
  for (const [index, term] of terms.entries())
    counts.set(term, short[index] ?? (await countHolding(db, term)))
}

async function countChunks(db: QueryExecutorProvider): Promise<number> {
  const [row] = await runText<{ count: number }>(db, 'select count(*) as count from chunk_text_docsize')
  return row?.count ?? 0
}

async function countHolding(db: QueryExecutorProvider, term: string): Promise<number> {
  const [row] = await runText<{ count: number }>(
    db,
    'select count(*) as count from chunk_text where chunk_text match ?',
    quoted(term),
  )
  return row?.count ?? 0
}
