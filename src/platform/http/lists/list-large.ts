import type { SelectQueryBuilder } from 'kysely'
import type { ListDefinition, ListParameters, Page } from './list-query.ts'
import { listRows } from './list-query.ts'

/** A page ends with the entry that passes them: more would hold up other requests while it is sent. */
const pageBytes = 1_000_000

/** How the entries of a page are read, once it is known which they are. */
interface Reading<Key extends PropertyKey, Value, Entry> {
  /** Column of a place that names its entry. */
  key: Key
  /** In any order, and without those that are gone by now. */
  read(keys: readonly Value[]): Promise<readonly Entry[]>
  /** A page ends with the entry that passes them; a megabyte unless given. */
  maxBytes?: number
}

/** Reads one page of entries that are costly to read: first their places. Throws as `listRows` does. */
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
 * Reads one page of what may be large: first the places of its entries with their `size` in bytes, then no more entries
 * than fit. Throws as `listRows` does.
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

/** How many of the first entries make a page; at least one, or a client would never get past it. */
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
