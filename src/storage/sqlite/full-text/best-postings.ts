/** Finds the chunks with the highest total score over all terms. */
import { type Best, createBest } from '../../search/best.ts'
import type { Postings } from './read-postings.ts'

/**
 * Max ratio of the range of sequences to the number of entries up to which scores are added in an array over
 * that range.
 */
const placesPerEntry = 8

/**
 * Returns the chunks with the greatest sums, in descending order; on a tie, the earlier chunk comes first.
 * @param counts returns true for a chunk to consider
 */
export function bestOf(
  lists: readonly Postings[],
  limit: number,
  counts: (sequence: number) => boolean,
): Best[] {
  const filled = lists.filter(({ sequences }) => sequences.length > 0)
  const first = Math.min(...filled.map(({ sequences }) => sequences[0] ?? 0))
  const last = Math.max(...filled.map(({ sequences }) => sequences.at(-1) ?? 0))
  const entries = filled.reduce((sum, { sequences }) => sum + sequences.length, 0)
  const best = createBest(limit)
  const inPlaces = filled.length > 1 && last - first < placesPerEntry * entries
  const { sequences, values } = inPlaces
    ? { sequences: undefined, values: addInPlaces(filled, first, last) }
    : merge(filled)
  let least = best.least()
  // A plain loop, because a call for each value would take several times as long.
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? 0
    if (value <= least) continue
    const sequence = sequences === undefined ? first + index : (sequences[index] ?? 0)
    if (!counts(sequence)) continue
    best.add(sequence, value)
    least = best.least()
  }
  return best.sorted()
}

/** Returns the sums by sequence, starting from `first`; chunks in no list get 0. */
function addInPlaces(lists: readonly Postings[], first: number, last: number): Float32Array {
  const sums = new Float32Array(last - first + 1)
  for (const { sequences, values } of lists)
    for (let index = 0; index < sequences.length; index += 1) {
      const place = (sequences[index] ?? 0) - first
      sums[place] = (sums[place] ?? 0) + (values[index] ?? 0)
    }
  return sums
}

/** Merges the lists; starting with the short ones is faster. */
function merge(lists: readonly Postings[]): Postings {
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
