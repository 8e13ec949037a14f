/** Adds vectors of another embedding to stored chunks, and removes others. For worker threads. */
import { type Kysely, sql, type Transaction } from 'kysely'
import { embedDocument } from '#models/embeddings/builtin-embedding.ts'
import type { SearchDatabase, Vector } from '#storage/search/search-engine.ts'
import { isTableOf } from '#storage/search/vector-space.ts'
import type { AgentTables } from '#storage/tables.ts'
import { builtinSpace } from './builtin-space.ts'
import {
  type Attempt,
  chunksOf,
  type DocumentPlace,
  isShown,
  requireAttempt,
  withGenerations,
} from './generations.ts'
import type { Embedded } from './index-writer.ts'
import { indexedText } from './indexed-text.ts'
import { spaceIdOf } from './provider-space.ts'
import { inShortTransactions } from './short-transactions.ts'
import { atOnce } from './write-indexes.ts'

/** The shown chunks of a document after this one that have no vector of the embedding. */
export interface Unembedded extends DocumentPlace {
  embedding: string
  after: number
  limit: number
}

export interface ChunkText {
  sequence: number
  content: string
}

export async function nextUnembedded(db: SearchDatabase, wanted: Unembedded): Promise<ChunkText[]> {
  const rows = await selectUnembedded(db, wanted)
  return rows.map(({ sequence, content }) => ({ sequence, content }))
}

async function selectUnembedded(
  { db, engine }: SearchDatabase,
  { embedding, after, limit, ...place }: Unembedded,
) {
  const tables = await engine.vectorTables(db)
  let chunks = chunksOf(db, place).where(isShown).where('sequence', '>', after)
  for (const table of tables.filter(name => isTableOf(name, spaceIdOf(embedding))))
    chunks = chunks.where(hasNone(table))
  const rows = await chunks
    .select(['sequence', 'content', 'section'])
    .orderBy('sequence')
    .limit(limit)
    .execute()
  return rows.map(row => ({ ...row, sequence: Number(row.sequence) }))
}

/** Stores a provider's vectors of the chunks. */
export async function writeVectors(
  database: SearchDatabase,
  attempt: Attempt,
  sequences: readonly number[],
  { space, vectors }: Embedded,
): Promise<void> {
  const { db, engine } = database
  await engine.createVectors(db, space)
  const stored = sequences.flatMap((sequence, at) => {
    const vector = vectors[at]
    return vector === undefined ? [] : [{ sequence, vector }]
  })
  await inShortTransactions(placeOf(database, attempt), atOnce(stored, engine), (transaction, some) =>
    engine.writeVectors(transaction, space, some),
  )
}

/** Stores built-in vectors of the next chunks. Returns the last examined chunk, or undefined at the end. */
export async function embedNext(
  database: SearchDatabase,
  attempt: Attempt,
  wanted: Unembedded,
): Promise<number | undefined> {
  const chunks = await selectUnembedded(database, wanted)
  const embedded = chunks.flatMap(({ sequence, ...chunk }) => {
    const vector: Vector | undefined = embedDocument(indexedText(chunk))
    return vector === undefined ? [] : [{ sequence, vector }]
  })
  const sequences = embedded.map(({ sequence }) => sequence)
  const vectors = embedded.map(({ vector }) => vector)
  await writeVectors(database, attempt, sequences, { space: builtinSpace, vectors })
  return chunks.at(-1)?.sequence
}

/** Removes all vectors of the source's shown chunks except those of this embedding. */
export async function removeOtherVectors(
  database: SearchDatabase,
  attempt: Attempt,
  embedding: string,
): Promise<void> {
  const { db, engine } = database
  const tables = await engine.vectorTables(db)
  for (const table of tables.filter(name => !isTableOf(name, spaceIdOf(embedding)))) {
    const sequences = await sequencesIn(db, table, attempt.sourceId)
    await inShortTransactions(placeOf(database, attempt), sequences, (transaction, sequence) =>
      engine.removeVectors(transaction, [table], sequence),
    )
  }
}

async function sequencesIn(db: Kysely<AgentTables>, table: string, sourceId: string): Promise<number[]> {
  const rows = await withGenerations(db)
    .where('chunks.source_id', '=', sourceId)
    .where(isShown)
    .where('sequence', 'in', sequencesOf(table))
    .select('sequence')
    .execute()
  return rows.map(row => Number(row.sequence))
}

/**
 * Checks one chunk: for `not in`, PostgreSQL would read the whole table each time, and again for each chunk
 * if it is large.
 */
function hasNone(table: string) {
  return sql<boolean>`not exists (
    select 1 from ${sql.table(table)} as embedded where embedded.sequence = ${sql.ref('chunks.sequence')})`
}

function sequencesOf(table: string) {
  return sql<number>`(select sequence from ${sql.table(table)})`
}

function placeOf({ db, engine }: SearchDatabase, attempt: Attempt) {
  return {
    db,
    singleWriter: engine.singleWriter,
    begin: (transaction: Transaction<AgentTables>) => requireAttempt(transaction, attempt),
  }
}
