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
  rows: ReadonlySet<string>
  numbers: string
}

/** The items in order, each with those after it whose text is as good as the same. */
export function groupDuplicates<Item>(
  items: readonly Item[],
  textOf: (item: Item) => string,
): { first: Item; duplicates: Item[] }[] {
  const groups: { first: Item; duplicates: Item[]; fingerprint: Fingerprint }[] = []
  const byKey = new Map<string, typeof groups>()
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
  if (terms.length < rowLength) return { rows: new Set([text]), numbers: '' }
  const count = terms.length - rowLength + 1
  const rows = Array.from({ length: count }, (_, start) => terms.slice(start, start + rowLength).join(' '))
  return { rows: new Set(rows), numbers: terms.filter(term => /\p{N}/u.test(term)).join(' ') }
}

/** The first rows by a hash, which are the same ones wherever they stand. */
function keysOf({ rows }: Fingerprint): string[] {
  return Array.from(rows, row => [hashOf(row), row] as const)
    .sort(([one], [other]) => one - other)
    .slice(0, keysOfText)
    .map(([, row]) => row)
}

function hashOf(text: string): number {
  let hash = 0x811c_9dc5
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x0100_0193)
  return Math.imul(hash ^ (hash >>> 15), 0x85eb_ca6b) >>> 0
}

function isSame(one: Fingerprint, other: Fingerprint): boolean {
  if (one.numbers !== other.numbers) return false
  const common = one.rows.intersection(other.rows).size
  return common >= leastCommon * (one.rows.size + other.rows.size - common)
}
