/**
 * Which texts say the same: the same words in the same order but for a few, with the same numbers. Copies and versions of
 * a document would else fill the results with one passage; a version with another price or date says something else.
 */
import { termsOf } from '#models/text-analysis.ts'

/** Terms in a row that are compared as one ("shingles", Broder 1997). */
const rowLength = 4
/** Of all such rows of two texts, the share that both must have. */
const leastCommon = 0.8
/** Rows by which texts are looked up: two that have most rows in common share at least one of these. */
const keysOfText = 8

interface Fingerprint {
  /** The hash of each row; the few that two rows have by chance don't matter. */
  rows: ReadonlySet<number>
  numbers: string
}

/** The items in order, each with those after it whose text is as good as the same. */
export function groupDuplicates<Item>(
  items: readonly Item[],
  textOf: (item: Item) => string,
): { first: Item; duplicates: Item[] }[] {
  const groups: { first: Item; duplicates: Item[]; fingerprint: Fingerprint }[] = []
  const byKey = new Map<number, typeof groups>()
  for (const item of items) {
    const fingerprint = fingerprintOf(textOf(item))
    const keys = keysOf(fingerprint)
    const group = keys
      .flatMap(key => byKey.get(key) ?? [])
      .find(other => isSame(fingerprint, other.fingerprint))
    if (group !== undefined) {
      group.duplicates.push(item)
      continue
    }
    const own = { first: item, duplicates: [], fingerprint }
    groups.push(own)
    for (const key of keys) byKey.set(key, [...(byKey.get(key) ?? []), own])
  }
  return groups.map(({ first, duplicates }) => ({ first, duplicates }))
}

function fingerprintOf(text: string): Fingerprint {
  const terms = termsOf(text)
  // A text of a few words says something else with any other sign in it: it is compared as it is.
  if (terms.length < rowLength) return { rows: new Set([hashOf(text)]), numbers: text }
  const hashes = Uint32Array.from(terms, hashOf)
  const rows = new Set<number>()
  for (let end = rowLength; end <= hashes.length; end += 1) rows.add(joined(hashes, end - rowLength, end))
  return { rows, numbers: digit.test(text) ? terms.filter(term => digit.test(term)).join(' ') : '' }
}

const digit = /\p{N}/u

/** The least ones, which are the same wherever they stand. */
function keysOf({ rows }: Fingerprint): number[] {
  return Array.from(Uint32Array.from(rows).sort().subarray(0, keysOfText))
}

function hashOf(text: string): number {
  let hash = 0x811c_9dc5
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x0100_0193)
  return mixed(hash)
}

function joined(hashes: Uint32Array, from: number, to: number): number {
  let hash = 0
  for (let index = from; index < to; index += 1) hash = Math.imul(hash, 0x0100_0193) ^ (hashes[index] ?? 0)
  return mixed(hash)
}

function mixed(hash: number): number {
  return Math.imul(hash ^ (hash >>> 15), 0x85eb_ca6b) >>> 0
}

function isSame(one: Fingerprint, other: Fingerprint): boolean {
  if (one.numbers !== other.numbers) return false
  const common = one.rows.intersection(other.rows).size
  return common >= leastCommon * (one.rows.size + other.rows.size - common)
}
