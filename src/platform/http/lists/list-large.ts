import type { SelectQueryBuilder } from 'kysely'
import { type ListDefinition, type ListParameters, listRows, type Page } from './list-query.ts'

/** Bytes after which a page ends: more would delay other requests while it is sent. */
const pageBytes = 1_000_000

/** The way to read the entries of a page once their keys are known. */
interface Reading<Key extends PropertyKey, Value, Entry> {
  /** Column of a place that names its entry. */
  key: Key
  /** Reads entries in any order, without those deleted meanwhile. */
  read(keys: readonly Value[]): Promise<readonly Entry[]>
  /** Bytes after which a page ends; defaults to a megabyte. */
  maxBytes?: number
}

/** Reads one page of entries that are costly to read: first their places. Throws like `listRows`. */
export async function listByPlaces<
  Database,
  Table extends keyof Database,
  Place extends object,
  Key extends keyof Place,
  Entry extends Pick<Place, Key>,
>(
  places: SelectQueryBuilder<Database, Table, Place>,
  definition: ListDefinition<NoInfer<Place>>,
  parameters: ListParameters,
  { key, read }: Reading<Key, Place[Key], Entry>,
  fitting?: (found: readonly Place[]) => number,
): Promise<Page<Entry>> {
  const { rows, meta } = await listRows(places, definition, parameters, fitting)
  if (rows.length === 0) return { rows: [], meta }
  const keys = rows.map(place => place[key])
  const byKey = new Map<unknown, Entry>((await read(keys)).map(entry => [entry[key], entry]))
  return { rows: keys.flatMap(value => byKey.get(value) ?? []), meta }
}

/**
 * Reads one page of entries that can be large: first their places with their `size` in bytes, then no more
 * entries than fit. Throws like `listRows`.
 */
export function listLarge<
  Database,
  Table extends keyof Database,
  Place extends { size: number },
  Key extends keyof Place,
  Entry extends Pick<Place, Key>,
>(
  places: SelectQueryBuilder<Database, Table, Place>,
  definition: ListDefinition<NoInfer<Place>>,
  parameters: ListParameters,
  reading: Reading<Key, Place[Key], Entry>,
): Promise<Page<Entry>> {
  return listByPlaces(places, definition, parameters, reading, found =>
    fitting(found, sizeOfPlace, reading.maxBytes),
  )
}

function sizeOfPlace({ size }: { size: number }): number {
  return size
}

/** Returns the number of entries on a page; at least one, or a client would never get past it. */
export function fitting<Entry>(
  found: readonly Entry[],
  sizeOf: (entry: Entry) => number,
  maxBytes = pageBytes,
): number {
  let bytes = 0
  const last = found.findIndex(entry => {
    bytes += sizeOf(entry)
    return bytes > maxBytes
  })
  return last < 0 ? found.length : last + 1
}
