/**
 * What a search thread keeps of the full-text indexes that it has searched: the length of every chunk, and which chunks
 * hold the lexemes that were asked for. All of it belongs to one state of the index. No chunk gets another text, so that in
 * the next state only what chunks have come and gone has to be told.
 */
import type { QueryExecutorProvider } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { IndexState } from './index-state.ts'
import { stateOf } from './index-state.ts'
import type { Postings } from './postings.ts'
import { joined, readLengths, readPostings, readPostingsOf } from './postings.ts'

/** The chunks have numbers of this thread's own, in the order in which it has met them. */
export interface KeptIndex {
  /** Names what is kept, as its numbers are no others'. */
  readonly id: number
  state: IndexState
  /** By sequence. */
  numbers: Map<number, number>
  /** By number, also of chunks that have gone. */
  sequences: number[]
  lengths: number[]
}

/** Chunks of all indexes, and entries of all lists, with so many more for each index and list: 25 and 20 MiB. */
const mostChunks = 300_000
const mostEntries = 4 * 1024 ** 2
const overhead = 64

const kept = new LRUCache<string, KeptIndex>({
  maxSize: mostChunks,
  // A larger index is kept alone: it would else be read anew by each search.
  sizeCalculation: ({ sequences }) => Math.min(mostChunks, sequences.length + overhead),
})
const lists = new LRUCache<string, Postings>({
  maxSize: mostEntries,
  sizeCalculation: ({ numbers }, name) => numbers.length + overhead + name.length,
})
let lastId = 0

/** Those of transactions, in which nothing changes. */
const ofTransactions = new WeakMap<QueryExecutorProvider, KeptIndex>()

/** The index in the state that this transaction sees. */
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

/** Names the index, if this transaction has asked for it: a database that is made anew has another one. */
export function askedIndex(db: QueryExecutorProvider): string | undefined {
  return ofTransactions.get(db)?.state.index
}

/** The chunks that hold each of these lexemes, which are all different. */
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

/** Chunks that have come, up to which lists are continued and not read anew when they are asked for. */
const fewCome = 4_000

async function follow(
  db: QueryExecutorProvider,
  last: KeptIndex | undefined,
  state: IndexState,
): Promise<KeptIndex> {
  const lengths = await readLengths(db)
  const come = [...lengths.keys()].filter(sequence => last?.numbers.has(sequence) !== true)
  const isMostGone = last !== undefined && last.sequences.length > 2 * lengths.size + fewCome
  if (last === undefined || isMostGone || come.length > fewCome) return begin(lengths, state)
  const next = { ...last, state }
  remove(next, lengths)
  await add(db, next, come, lengths)
  return next
}

function begin(lengths: ReadonlyMap<number, number>, state: IndexState): KeptIndex {
  lastId += 1
  const sequences = [...lengths.keys()]
  const numbers = new Map(sequences.map((sequence, number) => [sequence, number]))
  return { id: lastId, state, numbers, sequences, lengths: [...lengths.values()] }
}

function remove(index: KeptIndex, left: ReadonlyMap<number, number>): void {
  const gone = new Set<number>()
  for (const [sequence, number] of index.numbers) if (!left.has(sequence)) gone.add(number)
  if (gone.size === 0) return
  for (const number of gone) index.numbers.delete(index.sequences[number] ?? 0)
  for (const [name, list] of listsOf(index)) lists.set(name, without(list, gone))
}

function without({ numbers, frequencies }: Postings, gone: ReadonlySet<number>): Postings {
  const isLeft = (_: number, at: number) => !gone.has(numbers[at] ?? 0)
  return { numbers: numbers.filter(isLeft), frequencies: frequencies.filter(isLeft) }
}

async function add(
  db: QueryExecutorProvider,
  index: KeptIndex,
  come: readonly number[],
  lengths: ReadonlyMap<number, number>,
): Promise<void> {
  if (come.length === 0) return
  const numbers = new Map(come.map((sequence, at) => [sequence, index.sequences.length + at]))
  const continued = new Map(
    listsOf(index).map(([name, list]) => [name.slice(nameOf(index, '').length), list]),
  )
  // Before anything is changed: what has come is found by being unknown, also if reading fails and is tried again.
  const added = await readPostingsOf(db, { numbers }, come, [...continued.keys()])
  for (const [sequence, number] of numbers) {
    index.numbers.set(sequence, number)
    index.sequences.push(sequence)
    index.lengths.push(lengths.get(sequence) ?? 0)
  }
  for (const [lexeme, list] of added) lists.set(nameOf(index, lexeme), joined([continued.get(lexeme), list]))
}

function listsOf(index: KeptIndex): [string, Postings][] {
  return [...lists.entries()].filter(([name]) => name.startsWith(nameOf(index, '')))
}
