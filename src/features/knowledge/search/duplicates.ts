/**
 * Finds near-duplicates: texts with the same words in the same order except for a few, and the same numbers.
 * Otherwise, copies and versions of a document would fill the results with one passage; a version with a
 * different price or date is no duplicate.
 */
import { LRUCache } from 'lru-cache'
import { onceIdle } from '#storage/search/once-idle.ts'
import { hashOf, hashTerms, joined } from './term-hashes.ts'

/** Number of consecutive terms that form one unit of comparison ("shingles", Broder 1997). */
const rowLength = 4
/** The min share of all shingles of two texts that both have. */
const minCommon = 0.8
/**
 * Number of shingles that find candidates: two texts with mostly the same shingles share at least one of
 * these.
 */
const keysOfText = 8

interface Fingerprint {
  /** The hash of each shingle, with repeats; the few collisions do not matter. */
  rows: Uint32Array
  numbers: string
}

/** A text to compare; an id always stands for the same text. */
interface Text {
  id: string
  content: string
}

/**
 * The smallest hashes of a text, by id: splitting texts is a considerable part of a search, and most texts
 * share no shingle with any other. 16,384 entries take about 3 MiB.
 */
const remembered = new LRUCache<string, Uint32Array>({ max: 16_384 })
const inUse = onceIdle(() => remembered.clear())

interface Group<Item> {
  first: Item
  duplicates: Item[]
}

/** Returns the items in order, each with the later ones that have practically the same text. */
export function groupDuplicates<Item extends Text>(items: readonly Item[]): Group<Item>[] {
  inUse()
  const groups: Group<Item>[] = []
  const byKey = new Map<number, Group<Item>[]>()
  const fingerprints = new Map<Item, Fingerprint>()
  function fingerprint(item: Item): Fingerprint {
    const known = fingerprints.get(item) ?? fingerprintOf(item.content)
    fingerprints.set(item, known)
    return known
  }
  function keysFor(item: Item): Uint32Array {
    const known = remembered.get(item.id)
    if (known !== undefined) return known
    const keys = keysOf(fingerprint(item))
    remembered.set(item.id, keys)
    return keys
  }
  function groupOf(item: Item, keys: Uint32Array): Group<Item> | undefined {
    for (const key of keys)
      for (const group of byKey.get(key) ?? [])
        if (isSame(fingerprint(item), fingerprint(group.first))) return group
    return undefined
  }
  for (const item of items) {
    const keys = keysFor(item)
    const group = groupOf(item, keys)
    if (group !== undefined) {
      group.duplicates.push(item)
      continue
    }
    const newGroup = { first: item, duplicates: [] }
    groups.push(newGroup)
    for (const key of keys) {
      const others = byKey.get(key)
      if (others === undefined) byKey.set(key, [newGroup])
      else others.push(newGroup)
    }
  }
  return groups
}

function fingerprintOf(text: string): Fingerprint {
  const { hashes, numbers } = hashTerms(text)
  // In a text of few words, any other character changes the meaning, so it is compared literally.
  if (hashes.length < rowLength) return { rows: Uint32Array.of(hashOf(text)), numbers: text }
  const rows = new Uint32Array(hashes.length - rowLength + 1)
  for (let start = 0; start < rows.length; start += 1) rows[start] = joined(hashes, start, start + rowLength)
  return { rows, numbers }
}

/** Returns the smallest hashes in ascending order, which are the same wherever they occur. */
function keysOf({ rows }: Fingerprint): Uint32Array {
  const keys: number[] = []
  let greatest = Number.POSITIVE_INFINITY
  for (const row of rows) {
    if (row >= greatest || keys.includes(row)) continue
    if (keys.length === keysOfText) keys.pop()
    let place = keys.length
    for (; place > 0 && (keys[place - 1] ?? 0) > row; place -= 1) keys[place] = keys[place - 1] ?? 0
    keys[place] = row
    if (keys.length === keysOfText) greatest = keys.at(-1) ?? 0
  }
  return Uint32Array.from(keys)
}

function isSame(one: Fingerprint, other: Fingerprint): boolean {
  if (one.numbers !== other.numbers) return false
  const [rows, others] = [new Set(one.rows), new Set(other.rows)]
  const common = rows.intersection(others).size
  return common >= minCommon * (rows.size + others.size - common)
}
