import type { QueryExecutorProvider } from 'kysely'
import { sql } from 'kysely'
import { similarityTo } from '../exact-similarity.ts'
import type { Found, NearestQuery, VectorSpace } from '../search-engine.ts'
import { checkDimensions, hasDirection, vectorTableName } from '../vector-space.ts'
import { bitValues, createScan } from './sketches.ts'
import { sketchesOf, sketchesPerBlock, vectorTables } from './vectors.ts'

/** Vectors that get an exact look for each that is wanted, at least. */
const looksPerResult = 2

/** Rows of sketches that are held at a time: 1 MiB. */
const blocksAtOnce = 64

/** The contract stands in `search-engine.ts`. */
export async function nearestByVector(
  db: QueryExecutorProvider,
  space: VectorSpace,
  query: NearestQuery,
): Promise<Found[]> {
  checkDimensions(space, query.vector)
  const table = vectorTableName(space)
  if (!hasDirection(space, query.vector) || !(await vectorTables(db)).includes(table)) return []
  const candidates = await readSketches(db, space, query)
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

/** The sequences of the vectors that are worth a look. */
async function readSketches(
  db: QueryExecutorProvider,
  space: VectorSpace,
  query: NearestQuery,
): Promise<number[]> {
  const scan = createScan(bitValues(space, query), query.limit * looksPerResult)
  const within = await selected(db, query)
  for (let last = -1; ; ) {
    const { rows } = await sql<{ block: number; sketches: Uint8Array }>`
      select block, sketches from ${sketchesOf(vectorTableName(space))}
      where block > ${last} order by block limit ${blocksAtOnce}
    `.execute(db)
    for (const { block, sketches } of rows) scan.add(block * sketchesPerBlock, sketches, within)
    last = rows.at(-1)?.block ?? last
    if (rows.length < blocksAtOnce) return scan.nearest()
  }
}

/** As one value, since a row for each takes several times as long. */
async function selected(db: QueryExecutorProvider, { within }: NearestQuery) {
  if (within === undefined) return undefined
  const { rows } = await sql<{ sequences: string }>`
    select json_group_array(chosen.sequence) as sequences from (
      with selection (sequence) as ${within} select sequence from selection
    ) as chosen`.execute(db)
  return new Set(JSON.parse(rows[0]?.sequences ?? '[]') as number[])
}
