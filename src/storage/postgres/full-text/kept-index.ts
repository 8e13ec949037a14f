/**
 * A search thread's cache of full-text indexes: the length of every chunk, and the chunks that contain the
 * requested lexemes. It all belongs to one state of the index. The text of a chunk never changes, so for the
 * next state only added and removed chunks have to be read.
 */
import type { QueryExecutorProvider } from 'kysely'
import { LRUCache } from 'lru-cache'
import { createChunkNumbers } from './chunk-places.ts'
import { type IndexState, stateOf } from './index-state.ts'
import { frequencyBits } from './packed-lists.ts'
import {
  joined,
  type KnownChunks,
  type Postings,
  readChunks,
  readPostings,
  readPostingsOf,
  type StoredChunks,
} from './postings.ts'

/** Chunks are numbered by this thread, in the order in which it has first seen them. */
export interface KeptIndex extends KnownChunks {
  /** Identifies this cache entry, because chunk numbers are only valid within it. */
  readonly id: number
  state: IndexState
  sequences: number[]
  /** Lengths by number, like the sequences. */
  lengths: number[]
}

/** Limits over all indexes: chunks, and entries of lists, each list and index counting as some more: a few MiB and 16 MiB. */
const maxChunks = 300_000
const maxEntries = 4 * 1024 ** 2
const overhead = 64
/** Places for numbers that count as one chunk, where chunks are far apart. */
const placesPerChunk = 4

const kept = new LRUCache<string, KeptIndex>({
  maxSize: maxChunks,
  // An index above the limit is kept as the only one: otherwise each search would read it again.
  sizeCalculation: ({ sequences, numbers }) =>
    Math.min(maxChunks, Math.max(sequences.length, Math.ceil(numbers.room() / placesPerChunk)) + overhead),
})
const lists = new LRUCache<string, Postings>({
  maxSize: maxEntries,
  sizeCalculation: ({ length }, name) => length + overhead + name.length,
})
let lastId = 0

/** The indexes of transactions, within which nothing changes. */
const ofTransactions = new WeakMap<QueryExecutorProvider, KeptIndex>()

/** Returns the index in the state that this transaction sees. */
export async function keptIndex(db: QueryExecutorProvider): Promise<KeptIndex> {
  const known = ofTransactions.get(db)
  if (known !== undefined) return known
  const state = await stateOf(db)
  const last = kept.get(state.index)
  const index = last?.state.name === state.name ? last : await follow(db, last, state)
  kept.set(state.index, index)
  if ('isTransaction' in db && db.isTransaction === true) ofTransactions.set(db, index)
  return index
}

/** Returns the index's identifier if this transaction has read it; a recreated database has another one. */
export function readIndex(db: QueryExecutorProvider): string | undefined {
  return ofTransactions.get(db)?.state.index
}

/** Returns the chunks that contain each of these lexemes, which must be distinct. */
export async function postingsOf(
  db: QueryExecutorProvider,
  index: KeptIndex,
  lexemes: readonly string[],
): Promise<Map<string, Postings>> {
  const found = new Map(lexemes.map(lexeme => [lexeme, lists.get(nameOf(index, lexeme))]))
  const missing = lexemes.filter(lexeme => found.get(lexeme) === undefined)
  for (const [lexeme, list] of await readPostings(db, index, missing)) {
    lists.set(nameOf(index, lexeme), list)
    found.set(lexeme, list)
  }
  return new Map([...found].flatMap(([lexeme, list]) => (list === undefined ? [] : [[lexeme, list]])))
}

function nameOf({ id }: KeptIndex, lexeme: string): string {
  return `${id} ${lexeme}`
}

/** Max added chunks for which cached lists are extended; beyond it, they are read again on demand. */
const fewCome = 4_000

async function follow(
  db: QueryExecutorProvider,
  last: KeptIndex | undefined,
  state: IndexState,
): Promise<KeptIndex> {
  const stored = await readChunks(db)
  const come = placesOf(stored, sequence => last?.numbers.get(sequence) === undefined)
  const isMostGone = last !== undefined && last.sequences.length > 2 * stored.sequences.length + fewCome
  if (last === undefined || isMostGone || come.length > fewCome) return begin(stored, state)
  remove(last, stored)
  await add(db, last, stored, come)
  return { ...last, state, ...packedAmong(stored, last) }
}

/** Returns the places of the sequences for which `holds` is true. */
function placesOf({ sequences }: StoredChunks, holds: (sequence: number) => boolean): number[] {
  return Array.from(sequences.keys()).filter(place => holds(sequences[place] ?? 0))
}

function begin({ sequences, lengths, ...packed }: StoredChunks, state: IndexState): KeptIndex {
  lastId += 1
  const numbers = createChunkNumbers()
  for (const [number, sequence] of sequences.entries()) numbers.set(sequence, number)
  return { id: lastId, state, numbers, sequences, lengths, ...packed }
}

/** Returns flags by the chunks' numbers in the index: 1 for chunks in packed lists. */
function packedAmong(stored: StoredChunks, { numbers, sequences }: KeptIndex) {
  const arePacked = new Uint8Array(sequences.length)
  for (const [place, sequence] of stored.sequences.entries())
    arePacked[numbers.get(sequence) ?? 0] = stored.arePacked[place] ?? 0
  return { arePacked, unpacked: stored.unpacked }
}

function remove(index: KeptIndex, { sequences }: StoredChunks): void {
  const gone = new Uint8Array(index.sequences.length)
  for (const [number, sequence] of index.sequences.entries())
    if (index.numbers.get(sequence) === number) gone[number] = 1
  for (const sequence of sequences) gone[index.numbers.get(sequence) ?? gone.length] = 0
  if (!gone.includes(1)) return
  for (const [number, isGone] of gone.entries())
    if (isGone === 1) index.numbers.delete(index.sequences[number] ?? 0)
  for (const [name, list] of listsOf(index))
    lists.set(
      name,
      list.filter(entry => gone[entry >>> frequencyBits] === 0),
    )
}

async function add(
  db: QueryExecutorProvider,
  index: KeptIndex,
  stored: StoredChunks,
  places: readonly number[],
): Promise<void> {
  if (places.length === 0) return
  const come = places.map(place => stored.sequences[place] ?? 0)
  const numbers = new Map(come.map((sequence, at) => [sequence, index.sequences.length + at]))
  const continued = new Map(
    listsOf(index).map(([name, list]) => [name.slice(nameOf(index, '').length), list]),
  )
  // Read before any change: added chunks are recognised by being unknown, also if reading fails.
  const added = await readPostingsOf(db, numbers, come, [...continued.keys()])
  for (const [sequence, number] of numbers) {
    index.numbers.set(sequence, number)
    index.sequences.push(sequence)
  }
  for (const place of places) index.lengths.push(stored.lengths[place] ?? 0)
  for (const [lexeme, list] of added)
    lists.set(nameOf(index, lexeme), joined([continued.get(lexeme) ?? new Uint32Array(), list]))
}

function listsOf(index: KeptIndex): [string, Postings][] {
  return [...lists.entries()].filter(([name]) => name.startsWith(nameOf(index, '')))
}
