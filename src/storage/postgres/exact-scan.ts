/** Nearest neighbours by the cosine on a server that has no type for vectors: they come as bytes and are compared here. */
import type { Expression, QueryExecutorProvider } from 'kysely'
import { sql } from 'kysely'
import { similarityTo } from '../exact-similarity.ts'
import type { Found, NearestQuery, Vector, VectorSpace } from '../search-engine.ts'

/** Vectors that are held at a time. */
const pageSize = 500

/** As it is, since a copy of the data has to be the same. */
export function toBytes(vector: Vector): Buffer {
  return Buffer.from(Float32Array.from(vector).buffer)
}

export async function nearestAmongBytes(
  db: QueryExecutorProvider,
  { space, table }: { space: VectorSpace; table: Expression<unknown> },
  { vector, limit, within }: NearestQuery,
): Promise<Found[]> {
  const similarity = similarityTo(space, { vector })
  const filter = within === undefined ? sql`` : sql`and sequence in ${within}`
  let best: Found[] = []
  for (let last = 0; ; ) {
    const { rows } = await sql<{ sequence: number; embedding: Buffer }>`
      select sequence, embedding from ${table} where sequence > ${last} ${filter}
      order by sequence limit ${pageSize}
    `.execute(db)
    const found = rows.map(({ sequence, embedding }) => ({ sequence, similarity: similarity(embedding) }))
    best = [...best, ...found].sort((one, other) => other.similarity - one.similarity).slice(0, limit)
    last = found.at(-1)?.sequence ?? last
    if (found.length < pageSize) return best
  }
}
