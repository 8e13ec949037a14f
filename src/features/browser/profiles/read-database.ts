/** Runs in documents, see `collect-storage.ts`, so it must use nothing from this module. */
import type { Encode, Encoded } from './encode-value.ts'

interface Request {
  result: unknown
  error: unknown
  transaction?: { abort(): void } | null
  onsuccess: (() => void) | null
  onerror: (() => void) | null
  onupgradeneeded?: (() => void) | null
}

type KeyPath = string | string[] | null

interface Store {
  name: string
  keyPath: KeyPath
  autoIncrement: boolean
  indexNames: Iterable<string>
  index(name: string): { name: string; keyPath: KeyPath; multiEntry: boolean; unique: boolean }
  count(): Request
  getAllKeys(): Request
  get(key: unknown): Request
}

interface OpenDatabase {
  version: number
  objectStoreNames: Iterable<string>
  transaction(names: string[], mode: 'readonly'): { objectStore(name: string): Store }
  close(): void
}

declare const indexedDB: { open(name: string): Request }

export interface StoredDatabase {
  name: string
  /** JSON in the form that Playwright restores; empty if it is left out, null if it could not be read. */
  value: string | null
  /** The omitted kinds of values, or the reason that all were omitted. */
  leftOut: string[]
}

/** @param maxBytes of a database; a larger one is left out. */
export function createReadDatabase(encode: Encode, maxBytes: number) {
  const mostRecords = 100_000
  const settled = <Value>(request: Request) =>
    new Promise<Value>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result as Value)
      request.onerror = () => reject(request.error)
    })
  const pathsOf = (path: KeyPath) =>
    Array.isArray(path) ? { keyPathArray: path } : path !== null && { keyPath: path }
  const fieldOf = (name: 'key' | 'value', value: Encoded) =>
    'plain' in value ? { [name]: value.plain } : { [`${name}Encoded`]: value.encoded }

  async function recordsOf(store: Store, leftOut: Set<string>, take: (record: object) => void) {
    for (const key of await settled<unknown[]>(store.getAllKeys()))
      try {
        const value = fieldOf('value', encode(await settled(store.get(key))))
        take(store.keyPath === null ? { ...fieldOf('key', encode(key)), ...value } : value)
      } catch (error) {
        if (error instanceof RangeError) throw error
        const isNamed = error instanceof Error && error.name === 'LeftOut'
        leftOut.add(isNamed ? error.message : 'unreadable value')
      }
  }

  async function readStore(store: Store, leftOut: Set<string>, room: { bytes: number }) {
    const records: object[] = []
    if ((await settled<number>(store.count())) > mostRecords) throw new RangeError()
    await recordsOf(store, leftOut, record => {
      room.bytes -= new TextEncoder().encode(JSON.stringify(record)).length
      if (room.bytes < 0) throw new RangeError()
      records.push(record)
    })
    const indexes = Array.from(store.indexNames, one => {
      const { name, keyPath, multiEntry, unique } = store.index(one)
      return { name, ...pathsOf(keyPath), multiEntry, unique }
    })
    const { name, autoIncrement, keyPath } = store
    return { name, records, indexes, autoIncrement, ...pathsOf(keyPath) }
  }

  return async (name: string): Promise<StoredDatabase> => {
    const opening = indexedDB.open(name)
    // Reading must not create a database that was deleted meanwhile.
    opening.onupgradeneeded = () => opening.transaction?.abort()
    const database = await settled<OpenDatabase>(opening)
    const leftOut = new Set<string>()
    const room = { bytes: maxBytes }
    try {
      const names = [...database.objectStoreNames]
      const transaction = names.length > 0 ? database.transaction(names, 'readonly') : undefined
      const stores: object[] = []
      for (const store of names.flatMap(one => transaction?.objectStore(one) ?? []))
        stores.push(await readStore(store, leftOut, room))
      const value = JSON.stringify({ name, version: database.version, stores })
      return { name, value, leftOut: [...leftOut] }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      return { name, value: '', leftOut: ['too large'] }
    } finally {
      database.close()
    }
  }
}
