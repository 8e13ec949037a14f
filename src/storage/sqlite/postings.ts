/**
 * What each term is worth to the chunks that hold it. BM25 is a sum over the terms, so that a thread which remembers these
 * lists ranks chunks by adding them up, without a look into the index.
 */
import type { QueryExecutorProvider } from 'kysely'
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { onceIdle } from './once-idle.ts'
import { quoted } from './quoted.ts'

export interface Postings {
  /** In order. */
  sequences: Uint32Array
  /** The BM25 value of the term in each. */
  values: Float32Array
}

/** Entries of all terms of all indexes: 16 MiB. */
const mostRemembered = 2 * 1024 * 1024
/** What a list takes beside its entries, by and large, in entries: its arrays and its name, which may be as long as a term. */
const overhead = 64
/** Entries that a search reads at most: with more of them, it is quicker to have the index rank the chunks. */
const mostRead = 10_000

const remembered = new LRUCache<string, Postings>({
  maxSize: mostRemembered,
  sizeCalculation: ({ sequences }, name) => sequences.length + overhead + Math.ceil(name.length / 4),
})
const inUse = onceIdle(() => remembered.clear())

/**
 * The lists of these terms, undefined if too much of them would have to be read.
 * @param state tells one state of one index from all others
 */
export async function postingsOf(
  db: QueryExecutorProvider,
  state: string,
  terms: readonly (readonly [term: string, holding: number])[],
): Promise<Postings[] | undefined> {
  inUse()
  const keyOf = (term: string) => `${state} ${term}`
  const missing = terms.filter(([term]) => !remembered.has(keyOf(term)))
  if (missing.reduce((sum, [, holding]) => sum + holding, 0) > mostRead) return undefined
  const lists: Postings[] = []
  for (const [term] of terms) {
    const list = remembered.get(keyOf(term)) ?? (await read(db, term))
    remembered.set(keyOf(term), list)
    lists.push(list)
  }
  return lists
}

async function read(db: QueryExecutorProvider, term: string): Promise<Postings> {
  // The limit keeps the inner query one of its own: `bm25()` can't be called beside an aggregate.
  const { rows } = await sql<{ sequences: string; amounts: string }>`
    select json_group_array(sequence) as sequences, json_group_array(amount) as amounts from (
      select rowid as sequence, cast(bm25(chunk_text) * ${-precision} as integer) as amount from chunk_text
      where chunk_text match ${quoted(term)} order by rowid limit -1 offset 0
    )`.execute(db)
  const [{ sequences, amounts } = { sequences: '[]', amounts: '[]' }] = rows
  return {
    sequences: Uint32Array.from(JSON.parse(sequences) as number[]),
    values: Float32Array.from(JSON.parse(amounts) as number[], amount => amount / precision),
  }
}

/** Whole numbers are read sooner than fractions. */
const precision = 1e9

/** What each chunk gets from all lists together; short ones first are added up sooner. */
export function addUp(lists: readonly Postings[]): Postings {
  const ordered = lists.toSorted((one, other) => one.sequences.length - other.sequences.length)
  return ordered.reduce(merged, { sequences: new Uint32Array(), values: new Float32Array() })
}

function merged(one: Postings, other: Postings): Postings {
  const most = one.sequences.length + other.sequences.length
  const sequences = new Uint32Array(most)
  const values = new Float32Array(most)
  let [at, left, right] = [0, 0, 0]
  for (; left < one.sequences.length || right < other.sequences.length; at += 1) {
    const first = one.sequences[left] ?? Number.POSITIVE_INFINITY
    const second = other.sequences[right] ?? Number.POSITIVE_INFINITY
    sequences[at] = Math.min(first, second)
    let value = 0
    if (first <= second) value += one.values[left++] ?? 0
    if (second <= first) value += other.values[right++] ?? 0
    values[at] = value
  }
  return { sequences: sequences.subarray(0, at), values: values.subarray(0, at) }
}

/** The chunks with the greatest values, greatest first. */
export function greatest(
  { sequences, values }: Postings,
  limit: number,
  counts: (sequence: number) => boolean,
): { sequence: number; value: number }[] {
  let best: { sequence: number; value: number }[] = []
  let least = Number.NEGATIVE_INFINITY
  const keepBest = () => {
    best = best.sort((one, other) => other.value - one.value || one.sequence - other.sequence).slice(0, limit)
    if (best.length === limit) least = best.at(-1)?.value ?? least
  }
  for (let index = 0; index < sequences.length; index += 1) {
    const value = values[index] ?? 0
    const sequence = sequences[index] ?? 0
    if (value <= least || !counts(sequence)) continue
    best.push({ sequence, value })
    if (best.length >= 4 * limit) keepBest()
  }
  keepBest()
  return best
}
