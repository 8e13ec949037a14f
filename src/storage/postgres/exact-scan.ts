/** Nearest neighbours by the cosine on a server that has no type for vectors: they come as bytes and are compared here. */
import type { Expression, QueryExecutorProvider } from 'kysely'
import { sql } from 'kysely'
import type { Found, NearestQuery, Vector } from '../search-engine.ts'

/** Vectors that are held at a time. */
const pageSize = 500

/** As it is, since a copy of the data has to be the same. */
export function toBytes(vector: Vector): Buffer {
  return Buffer.from(Float32Array.from(vector).buffer)
}

export async function nearestAmongBytes(
  db: QueryExecutorProvider,
  table: Expression<unknown>,
  { vector, limit, within }: NearestQuery,
): Promise<Found[]> {
  const wanted = unit(vector)
  const filter = within === undefined ? sql`` : sql`and sequence in ${within}`
  let best: Found[] = []
  for (let last = 0; ; ) {
    const { rows } = await sql<{ sequence: number; embedding: Buffer }>`
      select sequence, embedding from ${table} where sequence > ${last} ${filter}
      order by sequence limit ${pageSize}
    `.execute(db)
    const found = rows.map(({ sequence, embedding }) => ({
      sequence,
      similarity: Math.min(1, Math.max(0, cosine(wanted, fromBytes(embedding)))),
    }))
    best = [...best, ...found].sort((one, other) => other.similarity - one.similarity).slice(0, limit)
    last = found.at(-1)?.sequence ?? last
    if (found.length < pageSize) return best
  }
}

function unit(vector: Vector): Float32Array<ArrayBuffer> {
  const length = Math.hypot(...vector)
  return Float32Array.from(vector, value => value / length)
}

/** A copy, since floats must lie at multiples of four bytes. */
export function fromBytes(bytes: Buffer): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer)
}

/** @param wanted has the length 1. */
function cosine(wanted: Float32Array, other: Float32Array): number {
  let product = 0
  let square = 0
  for (let index = 0; index < wanted.length; index += 1) {
    const value = other[index] ?? 0
    product += (wanted[index] ?? 0) * value
    square += value * value
  }
  return product / Math.sqrt(square)
}
