/**
 * The number of tokens of each chunk, which BM25 divides by. A thread caches them for its next searches: a chunk's text
 * never changes, so usually only those of new chunks have to be read.
 */
import type { QueryExecutorProvider } from 'kysely'
import { LRUCache } from 'lru-cache'
import { onceIdle } from '../../search/once-idle.ts'
import { runText } from '../run-text.ts'
import { type IndexState, numbersIn } from './index-state.ts'

interface Lengths {
  /** The sequence of the first length. */
  first: number
  lengths: Uint32Array
  count: number
  /** The newest chunk at the time. */
  newest: number
  newestId: string
}

/** Bytes of the lengths of all indexes together. */
const maxBytes = 8 * 1024 * 1024
/** Maximum number of array places per existing chunk, for indexes from which most chunks have been removed. */
const maxPlaces = 32

const keptOf = new LRUCache<string, Lengths>({
  maxSize: maxBytes,
  sizeCalculation: ({ lengths }) => lengths.byteLength + 1,
})
const inUse = onceIdle(() => keptOf.clear())

/** Returns the number of tokens of a chunk, 0 if it has none or is unknown. */
export type LengthOf = (sequence: number) => number

/**
 * Returns undefined if lengths are better left to FTS5.
 * @param anew reads all of them: sources are indexed in turns, so a chunk can be added after others with
 * higher sequences
 */
export async function tokenLengths(
  db: QueryExecutorProvider,
  { file, newest, newestId }: IndexState,
  { anew = false } = {},
): Promise<LengthOf | undefined> {
  if (newest === null || newestId === null) return undefined
  inUse()
  const known = anew ? undefined : keptOf.get(file)
  const isSame = known?.newest === newest && known.newestId === newestId
  const entry = isSame ? known : await read(db, { newest, newestId }, known)
  if (entry === undefined) return undefined
  keptOf.set(file, entry)
  const { first, lengths } = entry
  return sequence => lengths[sequence - first] ?? 0
}

async function read(
  db: QueryExecutorProvider,
  state: { newest: number; newestId: string },
  known: Lengths | undefined,
): Promise<Lengths | undefined> {
  const former = known !== undefined && (await isBefore(db, known, state)) ? known : undefined
  const [row] = await runText<{ sequences: string; sizes: Uint8Array | null }>(
    db,
    `select json_group_array(id) as sequences, cast(group_concat(sz, '') as blob) as sizes
     from chunk_text_docsize where id > ?`,
    former?.newest ?? -1,
  )
  const sequences = JSON.parse(row?.sequences ?? '[]') as number[]
  const sizes = numbersIn(row?.sizes ?? new Uint8Array())
  const first = former?.first ?? sequences[0] ?? 0
  const count = sequences.length + (former?.count ?? 0)
  const places = state.newest - first + 1
  if (sequences.length !== sizes.length || places > maxPlaces * count) return undefined
  const lengths = new Uint32Array(places)
  lengths.set(former?.lengths ?? [])
  sequences.forEach((sequence, index) => {
    lengths[sequence - first] = sizes[index] ?? 0
  })
  return { ...state, first, lengths, count }
}

/** Returns true if the lengths belong to the same index. Chunk ids are unique, whichever file holds them. */
async function isBefore(
  db: QueryExecutorProvider,
  known: Lengths,
  { newest }: { newest: number },
): Promise<boolean> {
  if (known.newest > newest) return false
  const [row] = await runText<{ id: string }>(db, 'select id from chunks where sequence = ?', known.newest)
  return row?.id === known.newestId
}
