import type { Transaction } from 'kysely'
import type { Ids } from '#platform/ids.ts'
import { inTransaction } from '#platform/transaction.ts'
import type { SearchDatabase, Vector, VectorSpace } from '#storage/search-engine.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Chunk } from '../chunking/chunk-document.ts'
import { builtinSpace } from './builtin-space.ts'
import { chunkRow, insertChunk } from './chunk-rows.ts'
import type { Attempt } from './generations.ts'
import {
  completeDraft,
  forget,
  hiddenChunks,
  hide,
  hideDocument,
  markIndexed,
  nextUnindexed,
  requireAttempt,
  settle,
  showNewest,
  unsettle,
} from './generations.ts'
import type { PreparedChunk } from './prepared-chunk.ts'
import { prepare } from './prepared-chunk.ts'
import { builtinName } from './provider-space.ts'
import { inShortTransactions } from './short-transactions.ts'

export interface IndexWriter {
  /** Begins a draft of the source's chunks; what an attempt that died left behind is removed, and others are ended. */
  start(sourceId: string): Promise<void>
  /** Stores chunks of the draft, for `index` to make them findable. */
  store(sourceId: string, chunks: readonly Chunk[]): Promise<void>
  /** Says that no more chunks follow: from here on a draft of this name may be continued. */
  complete(sourceId: string, draft: string): Promise<void>
  /**
   * Puts the next chunks of the draft into the indexes, at most `limit`, and tells how many; search does not show them
   * yet. Without `embedded` they get built-in vectors.
   */
  index(sourceId: string, limit: number, embedded?: Embedded): Promise<number>
  /** Stores chunks and puts them into the indexes at once. */
  add(sourceId: string, chunks: readonly (Chunk | PreparedChunk)[], embedded?: Embedded): Promise<void>
  /**
   * Shows the draft instead of what was there before, and tells how many chunks that is. `embedding` names the one that
   * its chunks were embedded by, which is the built-in one unless given.
   */
  finish(sourceId: string, embedding?: string): Promise<number>
  /** Removes all chunks of the document, or without one of the source; to be called before its row is deleted, which they refer to. */
  remove(sourceId: string): Promise<void>
}

/** A provider's vectors, one for each chunk. */
export interface Embedded {
  space: VectorSpace
  vectors: readonly Vector[]
}

/** Chunks taken apart and embedded at a time, before the database is locked to write them. */
export const batchSize = 32

interface Needs {
  db: SearchDatabase
  ids: Ids
  attempt: string
  /** The page of a website that is written; left out for sources that are one document, and to remove a whole source. */
  document?: string | undefined
}

/**
 * Writes the chunks of an agent's sources with their indexes. For worker threads: it computes for long and may wait for
 * locks. Sources don't disturb one another; of two attempts at one source, the one that began last goes on, and the other's
 * writes change nothing and throw.
 */
export function createIndexWriter(needs: Needs): IndexWriter {
  const { db, engine } = needs.db
  const { attempt, document } = needs
  const attemptAt = (sourceId: string) => ({ sourceId, attempt, ...(document !== undefined && { document }) })
  const placeOf = (sourceId: string) => ({
    db,
    singleWriter: engine.singleWriter,
    begin: (transaction: Transaction<AgentTables>) => requireAttempt(transaction, attemptAt(sourceId)),
  })

  async function removeHidden(sourceId: string): Promise<void> {
    const tables = await engine.vectorTables(db)
    await inShortTransactions(
      placeOf(sourceId),
      await hiddenChunks(db, attemptAt(sourceId)),
      async (transaction, sequence) => {
        await engine.removeFullText(transaction, sequence)
        await engine.removeVectors(transaction, tables, sequence)
        await transaction.deleteFrom('chunks').where('sequence', '=', sequence).execute()
      },
    )
  }

  const rowOf = (sourceId: string, chunk: Chunk) =>
    chunkRow({ id: needs.ids.record(), source_id: sourceId, document: document ?? '' }, chunk)

  async function store(sourceId: string, chunks: readonly Chunk[]): Promise<void> {
    const rows = chunks.map(chunk => rowOf(sourceId, chunk))
    await inShortTransactions(placeOf(sourceId), batches(rows), async (transaction, batch) => {
      await transaction.insertInto('chunks').values(batch).execute()
    })
  }

  const targetOf = (sourceId: string, embedded: Embedded | undefined) => ({
    database: needs.db,
    place: placeOf(sourceId),
    attempt: attemptAt(sourceId),
    embedded,
  })

  return {
    async start(sourceId) {
      await unsettle(db, attemptAt(sourceId))
      await removeHidden(sourceId)
    },
    store,
    complete: (sourceId, draft) => completeDraft(db, attemptAt(sourceId), draft),
    async index(sourceId, limit, embedded) {
      const stored = await nextUnindexed(db, attemptAt(sourceId), limit)
      await indexEach(targetOf(sourceId, embedded), stored, async (_, { sequence }) => sequence)
      return stored.length
    },
    // Not by way of `store`: as others have their turn after each transaction, a small document is to need but one.
    add: (sourceId, chunks, embedded) =>
      indexEach(targetOf(sourceId, embedded), chunks, (transaction, chunk) =>
        insertChunk(transaction, rowOf(sourceId, chunk)),
      ),
    async finish(sourceId, embedding = builtinName) {
      const count = await inTransaction(db, async transaction => {
        await requireAttempt(transaction, attemptAt(sourceId))
        return showNewest(transaction, attemptAt(sourceId), embedding)
      })
      await removeHidden(sourceId)
      await settle(db, attemptAt(sourceId))
      return count
    },
    async remove(sourceId) {
      if (document === undefined) await hide(db, sourceId, attempt)
      else await hideDocument(db, attemptAt(sourceId))
      await removeHidden(sourceId)
      await forget(db, attemptAt(sourceId))
    },
  }
}

/** A document whose chunks are put into the indexes. */
interface Target {
  database: SearchDatabase
  place: Omit<Parameters<typeof inShortTransactions<AgentTables, never>>[0], 'end'>
  attempt: Attempt
  embedded: Embedded | undefined
}

/** Makes chunks findable, each of which `sequenceOf` finds or stores in the transaction in which that is done. */
async function indexEach<Item extends Parameters<typeof prepare>[0]>(
  { database: { db, engine }, place, attempt, embedded }: Target,
  items: readonly Item[],
  sequenceOf: (transaction: Transaction<AgentTables>, item: Item) => Promise<number>,
): Promise<void> {
  const space = embedded?.space ?? builtinSpace
  await engine.createVectors(db, space)
  const end = (transaction: Transaction<AgentTables>, last: { sequence: number }) =>
    markIndexed(transaction, attempt, last.sequence)
  const vectors = embedded && batches(embedded.vectors)
  for (const [number, batch] of batches(items).entries()) {
    const chunks = batch.map((item, at) => ({ item, ...prepare(item, vectors?.[number]?.[at]), sequence: 0 }))
    await inShortTransactions<AgentTables, (typeof chunks)[number]>(
      { ...place, end },
      chunks,
      async (transaction, chunk) => {
        const { item, terms, vector } = chunk
        chunk.sequence = await sequenceOf(transaction, item)
        await engine.writeFullText(transaction, chunk.sequence, terms)
        if (vector !== undefined) await engine.writeVector(transaction, space, chunk.sequence, vector)
      },
    )
  }
}

function batches<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / batchSize) }, (_, number) =>
    items.slice(number * batchSize, (number + 1) * batchSize),
  )
}
