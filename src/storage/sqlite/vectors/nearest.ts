import type { QueryExecutorProvider } from 'kysely'
import { similarityTo } from '../../search/exact-similarity.ts'
import type { Found, NearestQuery, VectorSpace } from '../../search/search-engine.ts'
import { checkDimensions, hasDirection, vectorTableName } from '../../search/vector-space.ts'
import { runText } from '../run-text.ts'
import { memberOf, readSelection } from '../selection.ts'
import { readSketches } from './kept-sketches.ts'
import { createScan, exactLooks } from './sketches.ts'
import { sketchesOf } from './vectors.ts'

/** See `search-engine.ts` for the contract. */
export async function nearestByVector(
  db: QueryExecutorProvider,
  space: VectorSpace,
  query: NearestQuery,
): Promise<Found[]> {
  checkDimensions(space, query.vector)
  const table = vectorTableName(space)
  if (!hasDirection(space, query.vector) || !(await isTable(db, table))) return []
  const candidates = await worthALook(db, space, query)
  const similarity = similarityTo(space, query)
  const found: Found[] = []
  for (let start = 0; start < candidates.length; start += looksAtOnce)
    for (const { sequence, bytes } of await lookAt(db, table, candidates.slice(start, start + looksAtOnce)))
      found.push({ sequence, similarity: similarity(bytes) })
  return found
    .sort((one, other) => other.similarity - one.similarity || one.sequence - other.sequence)
    .slice(0, query.limit)
}

async function isTable(db: QueryExecutorProvider, name: string): Promise<boolean> {
  const rows = await runText(db, `select 1 from sqlite_schema where type = 'table' and name = ?`, name)
  return rows.length > 0
}

/** Max vectors held at a time. */
const looksAtOnce = 100

/** Reads the existing vectors of these chunks, as one value, because a row each takes twice as long. */
async function lookAt(db: QueryExecutorProvider, table: string, sequences: readonly number[]) {
  const [row] = await runText<{ found: string; embeddings: Uint8Array | null }>(
    db,
    `select json_group_array(sequence) as found, cast(group_concat(embedding, '') as blob) as embeddings
     from json_each(?) cross join ${table} on sequence = value`,
    JSON.stringify(sequences),
  )
  const found = JSON.parse(row?.found ?? '[]') as number[]
  const bytes = row?.embeddings ?? new Uint8Array()
  const size = bytes.length / found.length
  return found.map((sequence, at) => ({ sequence, bytes: bytes.subarray(at * size, (at + 1) * size) }))
}

/** Returns the sequences of the vectors that can be among the nearest. */
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
