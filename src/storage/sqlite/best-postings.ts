/** What chunks get from all terms together, and which of them get most. */
import type { Postings } from './read-postings.ts'

/** Numbers up to so many times as many as there are entries are added up in a row of places. */
const placesPerEntry = 8

/** What each chunk gets from all lists together. */
export function addUp(lists: readonly Postings[]): Postings {
  const filled = lists.filter(({ sequences }) => sequences.length > 0)
  const first = Math.min(...filled.map(({ sequences }) => sequences[0] ?? 0))
  const last = Math.max(...filled.map(({ sequences }) => sequences.at(-1) ?? 0))
  const entries = filled.reduce((sum, { sequences }) => sum + sequences.length, 0)
  if (filled.length > 1 && last - first < placesPerEntry * entries) return addInPlaces(filled, first, last)
  // Short ones first are added up sooner.
  const ordered = filled.toSorted((one, other) => one.sequences.length - other.sequences.length)
  return ordered.reduce(merged, { sequences: new Uint32Array(), values: new Float32Array() })
}

/** A list never holds zeros, since each term is worth something. */
function addInPlaces(lists: readonly Postings[], first: number, last: number): Postings {
  const places = new Float32Array(last - first + 1)
  let count = 0
  for (const { sequences, values } of lists)
    for (let index = 0; index < sequences.length; index += 1) {
      const place = (sequences[index] ?? 0) - first
      const before = places[place] ?? 0
      if (before === 0) count += 1
      places[place] = before + (values[index] ?? 0)
    }
  const sequences = new Uint32Array(count)
  const values = new Float32Array(count)
  for (let place = 0, at = 0; at < count; place += 1) {
    const value = places[place] ?? 0
    if (value === 0) continue
    sequences[at] = first + place
    values[at] = value
    at += 1
  }
  return { sequences, values }
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
