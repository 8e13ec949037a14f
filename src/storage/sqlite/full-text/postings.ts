/**
 * The score of each term for the chunks that contain it. BM25 is a sum over the terms, so a thread that caches these
 * lists can rank chunks by adding them up, without reading the index.
 */
import type { QueryExecutorProvider } from 'kysely'
import { LRUCache } from 'lru-cache'
import { onceIdle } from '../../search/once-idle.ts'
import { type IndexState, nameOf } from './index-state.ts'
import { createReader, type Postings } from './read-postings.ts'

/** Entries of all terms of all indexes: 16 MiB. */
const maxRemembered = 2 * 1024 * 1024
/**
 * Approximate size of a list beyond its entries, counted in entries: its arrays and its key, which can be as
 * long as a term.
 */
const overhead = 64
/** Maximum number of entries that a search reads: beyond it, ranking by the index is faster. */
const maxRead = 80_000
/** Max occurrences up to which a term's list is read even if only the number of its chunks is needed. */
const fewPlaces = 4_000

const remembered = new LRUCache<string, Postings>({
  maxSize: maxRemembered,
  sizeCalculation: ({ sequences }, name) => sequences.length + overhead + Math.ceil(name.length / 4),
})
const inUse = onceIdle(() => remembered.clear())

/** Returns the lists of these terms, or undefined if too many entries would have to be read. */
export async function postingsOf(
  db: QueryExecutorProvider,
  state: IndexState,
  terms: readonly (readonly [term: string, holding: number])[],
): Promise<Postings[] | undefined> {
  inUse()
  const known = new Map(terms.map(([term]) => [term, remembered.get(nameOf(state, term))]))
  const missing = terms.filter(([term]) => known.get(term) === undefined)
  if (missing.reduce((sum, [, holding]) => sum + holding, 0) > maxRead) return undefined
  const names = missing.map(([term]) => term)
  const reader = await createReader(db, state, names)
  for (const term of names) known.set(term, remember(state, term, await reader.read(term)))
  return [...known.values()].filter(list => list !== undefined)
}

/**
 * Counts the chunks that contain each of these terms. Short lists are read for that, because counted terms
 * are usually ranked next; the result is undefined for terms with longer ones.
 */
export async function countByPostings(
  db: QueryExecutorProvider,
  state: IndexState,
  terms: readonly string[],
): Promise<(number | undefined)[]> {
  inUse()
  const counts: (number | undefined)[] = []
  const reader = await createReader(db, state, terms)
  for (const term of terms) {
    const list = await reader.readShort(term, fewPlaces)
    counts.push(list && remember(state, term, list).sequences.length)
  }
  return counts
}

function remember(state: IndexState, term: string, list: Postings): Postings {
  remembered.set(nameOf(state, term), list)
  return list
}
