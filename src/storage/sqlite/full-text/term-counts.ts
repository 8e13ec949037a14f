import type { QueryExecutorProvider } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { TermCounts } from '../../search/search-engine.ts'
import { quoted } from '../quoted.ts'
import { runText } from '../run-text.ts'
import { nameOf, stateOf } from './index-state.ts'
import { countByPostings } from './postings.ts'

/** Approximate bytes of all counts together, and of each count beyond its name. */
const [maxBytes, overhead] = [8 * 1024 * 1024, 64]

/** Counting the chunks that contain a frequent term takes as long as ranking them, so each thread caches the latest counts. */
const counts = new LRUCache<string, number>({
  maxSize: maxBytes,
  sizeCalculation: (_, name) => name.length + overhead,
})

export async function countTerms(db: QueryExecutorProvider, terms: readonly string[]): Promise<TermCounts> {
  const state = await stateOf(db)
  const known = new Map(terms.map(term => [term, counts.get(nameOf(state, term))]))
  const missing = terms.filter(term => known.get(term) === undefined)
  const short = await countByPostings(db, state, missing)
  for (const [index, term] of missing.entries()) {
    const holding = short[index] ?? (await countHolding(db, term))
    known.set(term, holding)
    counts.set(nameOf(state, term), holding)
  }
  const entries = [...known].filter((entry): entry is [string, number] => (entry[1] ?? 0) > 0)
  return { terms: new Map(entries), chunks: state.chunks }
}

async function countHolding(db: QueryExecutorProvider, term: string): Promise<number> {
  const [row] = await runText<{ count: number }>(
    db,
    'select count(*) as count from chunk_text where chunk_text match ?',
    quoted(term),
  )
  return row?.count ?? 0
}
