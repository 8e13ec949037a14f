import type { QueryExecutorProvider } from 'kysely'
import { sql } from 'kysely'
import { similarityTo } from '../exact-similarity.ts'
import type { Found, NearestQuery, VectorSpace } from '../search-engine.ts'
import { checkDimensions, hasDirection, vectorTableName } from '../vector-space.ts'
import { readSketches } from './kept-sketches.ts'
import { memberOf, readSelection } from './selection.ts'
import { createScan, exactLooks } from './sketches.ts'
import { sketchesOf, vectorTables } from './vectors.ts'

/** The contract stands in `search-engine.ts`. */
export async function nearestByVector(
  db: QueryExecutorProvider,
  space: VectorSpace,
  query: NearestQuery,
): Promise<Found[]> {
  checkDimensions(space, query.vector)
  const table = vectorTableName(space)
  if (!hasDirection(space, query.vector) || !(await vectorTables(db)).includes(table)) return []
  const candidates = await worthALook(db, space, query)
  const { rows } = await sql<{ sequence: number; embedding: Uint8Array }>`
    select sequence, embedding from ${sql.table(table)}
    where sequence in (select value from json_each(${JSON.stringify(candidates)}))
  `.execute(db)
  const similarity = similarityTo(space, query)
  return rows
    .map(({ sequence, embedding }) => ({ sequence, similarity: similarity(embedding) }))
    .sort((one, other) => other.similarity - one.similarity || one.sequence - other.sequence)
    .slice(0, query.limit)
}

/** The sequences of the vectors that may be among the nearest. */
async function worthALook(
  db: QueryExecutorProvider,
  space: VectorSpace,
  query: NearestQuery,
): Promise<readonly number[]> {
  if (query.among !== undefined) return query.among
  const chosen = query.within && (await readSelection(db, query.within))
  if (chosen !== undefined && chosen.length <= exactLooks(chosen.length)) return chosen
  const { total, blocks } = await readSketches(db, sketchesOf(vectorTableName(space)))
  const scan = createScan(space, query, Math.min(total, chosen?.length ?? total))
  const counts = chosen && memberOf(chosen)
  for await (const some of blocks) for (const block of some) scan.add(block, counts)
  return scan.nearest()
}
