import type { Page } from 'playwright-core'
import { createEncode } from './encode-value.ts'
import { createReadDatabase, type StoredDatabase } from './read-database.ts'

declare const localStorage: Record<string, string> & { getItem(name: string): string | null }
declare const indexedDB: { databases(): Promise<{ name?: string }[]> }

interface Limits {
  /** Max bytes of the result. */
  maxBytes: number
  /** Time limit for the origin's databases (ms). */
  withinMs: number
}

export interface OriginStorage {
  /** Names and values; null if they could not be read. */
  items: [string, string][] | null
  /** Names of items that are too large. */
  itemsLeftOut: string[]
  /** Null if the databases could not be listed. */
  databases: StoredDatabase[] | null
}

/** Max characters of one message; each can take six bytes in it. */
const partLength = 2 ** 21

/** Reads the stored data of the document's origin, as far as it could be restored unchanged. */
export async function readStorage(page: Page, limits: Limits): Promise<OriginStorage> {
  const readDatabase = `(${createReadDatabase})((${createEncode})(), ${limits.maxBytes})`
  const collecting = `(${collectStorage})(${JSON.stringify(limits)}, ${readDatabase})`
  const length = await page.evaluate<number>(`${collecting}.then(text => (collected = text).length)`)
  let text = ''
  while (text.length < length)
    text += await page.evaluate<string>(`collected.slice(${text.length}, ${text.length + partLength})`)
  return JSON.parse(text)
}

/** Runs in an empty document of the origin, so it must use nothing from this module; returns JSON. */
async function collectStorage(
  { maxBytes, withinMs }: Limits,
  readDatabase: (name: string) => Promise<StoredDatabase>,
): Promise<string> {
  const late = new Promise<null>(resolve => setTimeout(() => resolve(null), withinMs))
  const inTime = <Value>(work: Promise<Value>) => Promise.race([work.catch(() => null), late])
  const read = async (name: string): Promise<StoredDatabase> =>
    (await inTime(readDatabase(name))) ?? { name, value: null, leftOut: ['could not be read in time'] }
  const readItems = (): [string, string][] | null => {
    try {
      return Object.keys(localStorage).map(name => [name, localStorage.getItem(name) ?? ''])
    } catch {
      return null
    }
  }
  // A site needs no more or longer names: others are omitted without a note.
  const named = (names: string[]) => names.filter(({ length }) => length <= 1000).slice(0, 1000)
  let room = maxBytes
  const takes = (text: string) => {
    const { length } = new TextEncoder().encode(text)
    const isTaken = length <= room
    if (isTaken) room -= length
    return isTaken
  }
  const all = readItems()?.toSorted((one, other) => one.join().length - other.join().length) ?? null
  const { kept: items = [], left = [] } = Object.groupBy(all ?? [], item =>
    takes(JSON.stringify(item)) ? 'kept' : 'left',
  )
  const known = await inTime(indexedDB.databases())
  const names = named((known ?? []).map(({ name = '' }) => name))
  const databases = (await Promise.all(names.map(read)))
    .toSorted((one, other) => (one.value ?? '').length - (other.value ?? '').length)
    .map(one => (takes(one.value ?? '') ? one : { ...one, value: '', leftOut: ['too large'] }))
  const itemsLeftOut = named(left.map(([name]) => name))
  return JSON.stringify({ items: all && items, itemsLeftOut, databases: known && databases })
}
