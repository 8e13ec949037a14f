/** The contents of a profile as single entries, so that concurrent sessions keep each other's changes. */
import type { StorageState } from '../sessions/browser-session.ts'

export interface Entry {
  /** JSON; empty for an entry that is left out. */
  value: string
  /** The omitted part and the reason, for people. */
  leftOut?: string
}

/** Entries by key, for a cookie, an item of localStorage or a database. */
export type Entries = ReadonlyMap<string, Entry>

type Cookie = StorageState['cookies'][number] & { partitionKey?: string }
type Origin = StorageState['origins'][number] & { indexedDB?: { name: string }[] }

/** The stored form: notes on omitted parts are beside the state, by entry key. */
export interface KeptState {
  cookies: Cookie[]
  origins: Origin[]
  leftOut?: Record<string, string>
}

type Key = ['cookie', ...unknown[]] | ['item' | 'database', origin: string, name: string]

const keyOf = (...key: Key) => JSON.stringify(key)
const isCookie = (key: string) => key.startsWith('["cookie"')

export const itemKey = (origin: string, name: string) => keyOf('item', origin, name)
export const databaseKey = (origin: string, name: string) => keyOf('database', origin, name)

function cookieEntries(cookies: readonly Cookie[]): [string, Entry][] {
  return cookies.map(cookie => [
    keyOf('cookie', cookie.name, cookie.domain, cookie.path, cookie.partitionKey ?? null),
    { value: JSON.stringify(cookie) },
  ])
}

/** Returns the entries with all cookies replaced by these. */
export function withCookies(entries: Entries, cookies: readonly Cookie[]): Map<string, Entry> {
  return new Map([...Array.from(entries).filter(([key]) => !isCookie(key)), ...cookieEntries(cookies)])
}

export function entriesOf({ cookies, origins, leftOut = {} }: KeptState): Entries {
  const entries = new Map(cookieEntries(cookies))
  for (const { origin, localStorage, indexedDB = [] } of origins) {
    for (const { name, value } of localStorage)
      entries.set(itemKey(origin, name), { value: JSON.stringify(value) })
    for (const database of indexedDB)
      entries.set(databaseKey(origin, database.name), { value: JSON.stringify(database) })
  }
  for (const [key, why] of Object.entries(leftOut))
    entries.set(key, { value: entries.get(key)?.value ?? '', leftOut: why })
  return entries
}

export function stateOf(entries: Entries): KeptState {
  const cookies: Cookie[] = []
  const origins = new Map<string, Required<Origin>>()
  const leftOut: Record<string, string> = {}
  for (const [key, { value, leftOut: why }] of entries) {
    if (why !== undefined) leftOut[key] = why
    if (value === '') continue
    const [kind, origin, name] = JSON.parse(key) as [Key[0], string, string]
    if (kind === 'cookie') {
      cookies.push(JSON.parse(value))
      continue
    }
    const known = origins.get(origin) ?? { origin, localStorage: [], indexedDB: [] }
    origins.set(origin, known)
    if (kind === 'item') known.localStorage.push({ name, value: JSON.parse(value) })
    else known.indexedDB.push(JSON.parse(value))
  }
  return { cookies, origins: [...origins.values()], leftOut }
}

/** Applies a session's changes since `base`, with deletions, to the entries stored meanwhile. */
export function merged(base: Entries, mine: Entries, theirs: Entries): Entries {
  const all = new Map(theirs)
  for (const key of new Set([...base.keys(), ...mine.keys()])) {
    const now = mine.get(key)
    const isChanged = (now?.value ?? '') !== (base.get(key)?.value ?? '')
    if (now === undefined && (isChanged || all.get(key)?.value === '')) all.delete(key)
    else if (now !== undefined && isChanged) all.set(key, now)
    else if (now?.leftOut !== undefined) all.set(key, { value: '', ...all.get(key), leftOut: now.leftOut })
  }
  return all
}

/** Removes expired cookies, which must not count as deleted by a session that no longer has them. */
export function withoutExpired(entries: Entries, now: number): Entries {
  const isExpired = ([key, { value }]: [string, Entry]) => {
    if (!isCookie(key)) return false
    const { expires }: Cookie = JSON.parse(value)
    return expires > 0 && expires * 1000 <= now
  }
  return new Map(Array.from(entries).filter(entry => !isExpired(entry)))
}

/** Max stored notes on omitted parts. */
const mostLeftOut = 1000
const kinds = ['["cookie"', '["item"', '["database"']

/** Max origins, because a session opens each at its start. */
const mostOrigins = 300

/** Names with the same last two parts count as one site. */
const siteOf = (origin: string) => origin.replace(/:\d+$/, '').split(/[./]/).slice(-2).join('.')

/** Keeps the entries that fit: cookies first, databases last, in each kind small sites first. */
export function bounded(entries: Entries, maxBytes: number): Entries {
  const sizes = new Map<string, number>()
  const all = Array.from(entries, ([key, entry]) => {
    const kind = kinds.findIndex(one => key.startsWith(one))
    const origin: string = JSON.parse(key)[kind === 0 ? 2 : 1]
    const site = `${kind} ${siteOf(origin)}`
    const size = Buffer.byteLength(key) + Buffer.byteLength(entry.value)
    sizes.set(site, (sizes.get(site) ?? 0) + size)
    return { key, entry, kind, origin, site, size }
  })
  const ofSite = ({ site }: { site: string }) => sizes.get(site) ?? 0
  const sized = all.toSorted(
    (one, other) => one.kind - other.kind || ofSite(one) - ofSite(other) || one.size - other.size,
  )
  let room = maxBytes
  const keptEntries = new Map<string, Entry>()
  const left = new Map<string, Entry>()
  const origins = new Set<string>()
  for (const { key, entry, kind, origin, size } of sized) {
    const isOpened = kind === 0 || origins.size < mostOrigins || origins.has(origin)
    const isKept = entry.value !== '' && size <= room && isOpened
    if (isKept) {
      room -= size
      keptEntries.set(key, entry)
      if (kind > 0) origins.add(origin)
    } else if (left.size < mostLeftOut) {
      const leftOut = `${nameOf(key)} (${isOpened ? 'too large' : 'of too many sites'})`
      left.set(key, entry.value === '' ? entry : { value: '', leftOut })
    }
  }
  return new Map([...keptEntries, ...left])
}

const maxNamed = 10

/** Returns a note on the omitted parts; null if there are none. */
export function noteOn(entries: Entries): string | null {
  const all = [...entries.values()].flatMap(({ leftOut }) => leftOut ?? [])
  if (all.length === 0) return null
  const more = all.length > maxNamed ? `; and ${all.length - maxNamed} more` : ''
  return `Left out: ${all.slice(0, maxNamed).join('; ')}${more}.`
}

export function nameOf(key: string): string {
  const [kind, first, second] = JSON.parse(key) as [Key[0], string, string]
  const name = (text: string) => `"${text.slice(0, 60).toWellFormed()}"`
  if (kind === 'cookie') return `cookie ${name(first)} of ${second}`
  return `${kind === 'item' ? 'localStorage item' : 'IndexedDB database'} ${name(second)} of ${first}`
}
