/**
 * The nearest vectors: a scan of all sketches selects the few that are compared exactly. See `search-engine.ts` for the
 * contract.
 */
import { type QueryExecutorProvider, sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { similarityTo } from '../../search/exact-similarity.ts'
import type { Found, NearestQuery, VectorSpace } from '../../search/search-engine.ts'
import { checkDimensions, hasDirection, similarityOf, vectorTableName } from '../../search/vector-space.ts'
import { readIndex } from '../full-text/kept-index.ts'
import { readSelection } from '../selection.ts'
import { readSketches } from './kept-sketches.ts'
import { createScan, looksAmong } from './sketch-scan.ts'
import { bitValues } from './sketches.ts'
import { type Column, columnOf, vectorParameter } from './vectors.ts'

export async function nearestByVector(
  db: QueryExecutorProvider,
  space: VectorSpace,
  query: NearestQuery,
): Promise<Found[]> {
  checkDimensions(space, query.vector)
  if (!hasDirection(space, query.vector)) return []
  const column = await knownColumn(db, vectorTableName(space))
  if (column === undefined) return []
  const candidates = await candidatesFor(db, space, query)
  const found = await lookAt(db, { space, column, query }, candidates)
  return found
    .sort((one, other) => other.similarity - one.similarity || one.sequence - other.sequence)
    .slice(0, query.limit)
}

/** The columns, cached because the type of a table never changes. */
const columns = new LRUCache<string, Column>({ max: 500 })

async function knownColumn(db: QueryExecutorProvider, table: string): Promise<Column | undefined> {
  const index = readIndex(db)
  const name = `${index} ${table}`
  const column = (index === undefined ? undefined : columns.get(name)) ?? (await columnOf(db, table))
  if (index !== undefined && column !== undefined) columns.set(name, column)
  return column
}

/** Returns the sequences of the vectors to compare exactly. */
async function candidatesFor(
  db: QueryExecutorProvider,
  space: VectorSpace,
  query: NearestQuery,
): Promise<readonly number[]> {
  if (query.among !== undefined) return query.among
  const selection = await readSelection(db, query.within)
  if (selection !== undefined && selection.length <= looksAmong(0, query.limit)) return selection
  const within = selection && new Set(selection)
  const scan = createScan(bitValues(space, query), query.limit)
  for await (const { block, gone } of readSketches(db, vectorTableName(space)))
    scan.add(block, { gone, within })
  return scan.nearest()
}

interface Look {
  space: VectorSpace
  column: Column
  query: NearestQuery
}

/** Returns the similarity of these chunks; those that no longer have a vector are left out. */
async function lookAt(
  db: QueryExecutorProvider,
  { space, column, query }: Look,
  candidates: readonly number[],
): Promise<Found[]> {
  // The array is passed as text, to which the driver would convert it value by value.
  const wanted = `{${candidates.join(',')}}`
  const from = sql`from ${sql.table(vectorTableName(space))} where sequence = any(${wanted}::bigint[])`
  if (column.type === 'vector') {
    const operator = sql`operator(${sql.id(column.schema)}.<=>)`
    const distance = sql`embedding ${operator} ${vectorParameter(column, query.vector)}`
    const { rows } = await sql<{ sequence: number; distance: number }>`
      select sequence, ${distance} as distance ${from}`.execute(db)
    return rows.map(row => ({ sequence: row.sequence, similarity: similarityOf(space, row.distance) }))
  }
  const bytes = column.type === 'bit' ? sql`bit_send(embedding)` : sql`embedding`
  const { rows } = await sql<{ sequence: number; bytes: Buffer }>`
    select sequence, ${bytes} as bytes ${from}`.execute(db)
  const similarity = similarityTo(space, query)
  const skipped = column.type === 'bit' ? lengthBytes : 0
  return rows.map(row => ({ sequence: row.sequence, similarity: similarity(row.bytes.subarray(skipped)) }))
}

/** Bytes of the number of bits, with which their binary form begins. */
const lengthBytes = 4
