/** Vectors are copied, not recomputed: those of a provider cost money. */
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { StoredVector, Vector } from '../search/search-engine.ts'
import type { Catalogue, VectorTable } from './catalogue.ts'
import { createDigest, type Part } from './digest.ts'
import { readPages } from './pages.ts'
import type { AnyDatabase } from './storage-end.ts'

interface Place {
  db: AnyDatabase
  catalogue: Catalogue
}

/** Max values of vectors in memory at a time, which take no more than some megabytes. */
const valuesAtOnce = 1024 * 1024

export async function copyVectors(
  source: Place,
  target: Place,
  table: VectorTable,
  onRows: (count: number) => void,
): Promise<Part> {
  await target.catalogue.createVectorTable(target.db, table)
  return await readVectors(source, table, async rows => {
    await inTransaction(target.db, transaction => target.catalogue.writeVectors(transaction, table, rows))
    onRows(rows.length)
  })
}

/** Reads the vectors of all chunks and returns their digest. */
export async function readVectors(
  { db, catalogue }: Place,
  table: VectorTable,
  onRows: (rows: StoredVector[]) => Promise<void> = async () => {},
): Promise<Part> {
  const digest = createDigest(table.name)
  const atOnce = Math.max(1, Math.floor(valuesAtOnce / table.dimensions))
  for await (const page of readPages(db, { table: 'chunks', columns: ['sequence'], key: ['sequence'] }))
    for (let start = 0; start < page.length; start += atOnce) {
      const sequences = page.slice(start, start + atOnce).map(row => Number(row.sequence))
      const rows = await catalogue.readVectors(db, table, sequences)
      for (const { sequence, vector } of rows) digest.add({ sequence, vector: bytesOf(vector) })
      if (rows.length > 0) await onRows(rows)
    }
  return digest.part()
}

/** Returns the bytes without the sign of zero, which is lost on engines that write vectors as text. */
function bytesOf(vector: Vector): Uint8Array {
  if (vector instanceof Uint8Array) return vector
  return new Uint8Array(vector.map(value => value + 0).buffer)
}
