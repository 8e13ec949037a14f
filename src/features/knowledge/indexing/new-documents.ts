/** Adds documents without chunks: all of one can be stored, indexed and shown in a single transaction. */
import type { Transaction } from 'kysely'
import type { Ids } from '#platform/ids.ts'
import type { SearchDatabase } from '#storage/search/search-engine.ts'
import type { AgentTables } from '#storage/tables.ts'
import { builtinSpace } from './builtin-space.ts'
import { chunkRow, insertChunks } from './chunk-rows.ts'
import { type Attempt, knownDocuments, requireAttempt, showNewDocument } from './generations.ts'
import { createIndexWriter } from './index-writer.ts'
import type { PreparedChunk } from './prepared-chunk.ts'
import { builtinName } from './provider-space.ts'
import { inShortTransactions } from './short-transactions.ts'
import { atOnce, batchSize, writeIndexes } from './write-indexes.ts'

export interface NewDocument {
  document: string
  chunks: readonly PreparedChunk[]
}

interface Dependencies {
  db: SearchDatabase
  ids: Ids
  /** The attempt at the source that the documents belong to. */
  attempt: Omit<Attempt, 'document'>
}

/** Adds documents of a source with built-in vectors. Known or large documents take longer. */
export async function addDocuments(
  dependencies: Dependencies,
  documents: readonly NewDocument[],
): Promise<void> {
  const { sourceId, attempt } = dependencies.attempt
  const { db, engine } = dependencies.db
  const names = documents.map(({ document }) => document)
  const known = await knownDocuments(db, sourceId, names)
  const isQuick = ({ document, chunks }: NewDocument) => !known.has(document) && chunks.length <= batchSize
  await engine.createVectors(db, builtinSpace)
  await inShortTransactions(
    {
      db,
      singleWriter: engine.singleWriter,
      begin: transaction => requireAttempt(transaction, dependencies.attempt),
    },
    documents.filter(isQuick),
    (transaction, added) => addWhole(dependencies, transaction, added),
  )
  for (const { document, chunks } of documents.filter(one => !isQuick(one))) {
    const writer = createIndexWriter({ ...dependencies, attempt, document })
    await writer.start(sourceId)
    await writer.add(sourceId, chunks)
    await writer.finish(sourceId)
  }
}

async function addWhole(
  { db: { engine }, ids, attempt }: Dependencies,
  transaction: Transaction<AgentTables>,
  { document, chunks }: NewDocument,
): Promise<void> {
  const sequences: number[] = []
  const rowOf = (chunk: PreparedChunk) =>
    chunkRow({ id: ids.record(), source_id: attempt.sourceId, document }, chunk)
  for (const some of atOnce(chunks, engine)) {
    const added = await insertChunks(transaction, some.map(rowOf))
    const stored = some.map((chunk, at) => ({ ...chunk, sequence: added[at] ?? 0 }))
    await writeIndexes(transaction, { engine, space: builtinSpace }, stored)
    sequences.push(...added)
  }
  const [first] = sequences
  const last = sequences.at(-1)
  const range = first === undefined || last === undefined ? undefined : { first, last }
  await showNewDocument(transaction, { ...attempt, document }, range, builtinName)
}
