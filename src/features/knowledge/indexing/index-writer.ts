import type { Transaction } from 'kysely'
import type { Chunk } from '#documents/chunking/chunk-document.ts'
import type { Ids } from '#platform/ids.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { SearchDatabase, Vector, VectorSpace } from '#storage/search/search-engine.ts'
import type { AgentTables } from '#storage/tables.ts'
import { builtinSpace } from './builtin-space.ts'
import { chunkRow, insertChunks } from './chunk-rows.ts'
import {
  type Attempt,
  completeDraft,
  forgetDocument,
  forgetSource,
  hiddenChunks,
  hideDocument,
  hideSource,
  markIndexed,
  nextUnindexed,
  requireAttempt,
  settleDocument,
  showDraft,
  unsettleDocument,
} from './generations.ts'
import { type PreparedChunk, prepare } from './prepared-chunk.ts'
import { builtinName } from './provider-space.ts'
import { inShortTransactions } from './short-transactions.ts'
import { atOnce, batches, writeIndexes } from './write-indexes.ts'

export interface IndexWriter {
  /** Begins a draft; removes the rest of a crashed attempt, and ends other attempts at the source. */
  start(sourceId: string): Promise<void>
  /** Stores chunks of the draft, to be indexed by `index`. */
  store(sourceId: string, chunks: readonly Chunk[]): Promise<void>
  /** Marks the draft as complete: a draft of this name can now be continued. */
  complete(sourceId: string, draft: string): Promise<void>
  /**
   * Indexes the next chunks of the draft, up to `limit`, and returns their number; search does not show them
   * yet. `embedded` defaults to built-in vectors.
   */
  index(sourceId: string, limit: number, embedded?: Embedded): Promise<number>
  /** Stores and indexes chunks at once. */
  add(sourceId: string, chunks: readonly (Chunk | PreparedChunk)[], embedded?: Embedded): Promise<void>
  /**
   * Shows the draft instead of the previous chunks, and returns its number of chunks. `embedding` is that of
   * its chunks; defaults to the built-in one.
   */
  finish(sourceId: string, embedding?: string): Promise<number>
  /**
   * Removes all chunks of the document, or without one, of the source. Must be called before the deletion of
   * its row, to which they refer.
   */
  remove(sourceId: string): Promise<void>
}

/** A provider's vectors, one per chunk. */
export interface Embedded {
  space: VectorSpace
  vectors: readonly Vector[]
}

interface Dependencies {
  db: SearchDatabase
  ids: Ids
  attempt: string
  /** The page of a website to write; absent for a source with a single document, and to remove a source. */
  document?: string | undefined
}

/**
 * Writes and indexes the chunks of an agent's sources. For worker threads: it computes for a long time and
 * can wait for locks. Sources do not disturb one another; of two attempts at one source, the one that began
 * last continues, and the other's writes change nothing and throw.
 */
export function createIndexWriter(dependencies: Dependencies): IndexWriter {
  const { db, engine } = dependencies.db
  const { attempt, document } = dependencies
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
    chunkRow({ id: dependencies.ids.record(), source_id: sourceId, document: document ?? '' }, chunk)

  async function store(sourceId: string, chunks: readonly Chunk[]): Promise<void> {
    const rows = chunks.map(chunk => rowOf(sourceId, chunk))
    await inShortTransactions(placeOf(sourceId), batches(rows), async (transaction, batch) => {
      await transaction.insertInto('chunks').values(batch).execute()
    })
  }

  const targetOf = (sourceId: string, embedded: Embedded | undefined) => ({
    database: dependencies.db,
    place: placeOf(sourceId),
    attempt: attemptAt(sourceId),
    embedded,
  })

  return {
    async start(sourceId) {
      await unsettleDocument(db, attemptAt(sourceId))
      await removeHidden(sourceId)
    },
    store,
    complete: (sourceId, draft) => completeDraft(db, attemptAt(sourceId), draft),
    async index(sourceId, limit, embedded) {
      const stored = await nextUnindexed(db, attemptAt(sourceId), limit)
      await indexEach(targetOf(sourceId, embedded), stored, async (_, chunks) =>
        chunks.map(({ sequence }) => sequence),
      )
      return stored.length
    },
    // This avoids `store`, whose transactions let others write: a small document needs only one.
    add: (sourceId, chunks, embedded) =>
      indexEach(targetOf(sourceId, embedded), chunks, (transaction, some) =>
        insertChunks(
          transaction,
          some.map(chunk => rowOf(sourceId, chunk)),
        ),
      ),
    async finish(sourceId, embedding = builtinName) {
      const count = await inTransaction(db, async transaction => {
        await requireAttempt(transaction, attemptAt(sourceId))
        return showDraft(transaction, attemptAt(sourceId), embedding)
      })
      await removeHidden(sourceId)
      await settleDocument(db, attemptAt(sourceId))
      return count
    },
    async remove(sourceId) {
      const isSource = document === undefined
      await (isSource ? hideSource(db, sourceId, attempt) : hideDocument(db, attemptAt(sourceId)))
      await removeHidden(sourceId)
      await (isSource ? forgetSource : forgetDocument)(db, attemptAt(sourceId))
    },
  }
}

/** A document whose chunks are indexed. */
interface Target {
  database: SearchDatabase
  place: Omit<Parameters<typeof inShortTransactions<AgentTables, never>>[0], 'end'>
  attempt: Attempt
  embedded: Embedded | undefined
}

/** Indexes chunks; `sequencesOf` finds or stores some of them in the same transaction. */
async function indexEach<Item extends Parameters<typeof prepare>[0]>(
  { database: { db, engine }, place, attempt, embedded }: Target,
  items: readonly Item[],
  sequencesOf: (transaction: Transaction<AgentTables>, items: readonly Item[]) => Promise<number[]>,
): Promise<void> {
  const space = embedded?.space ?? builtinSpace
  await engine.createVectors(db, space)
  const end = (transaction: Transaction<AgentTables>, last: readonly { sequence: number }[]) =>
    markIndexed(transaction, attempt, last.at(-1)?.sequence ?? 0)
  const vectors = embedded && batches(embedded.vectors)
  for (const [number, batch] of batches(items).entries()) {
    const chunks = batch.map((item, at) => ({ item, ...prepare(item, vectors?.[number]?.[at]), sequence: 0 }))
    await inShortTransactions<AgentTables, typeof chunks>(
      { ...place, end },
      atOnce(chunks, engine),
      async (transaction, some) => {
        const sequences = await sequencesOf(
          transaction,
          some.map(({ item }) => item),
        )
        for (const [at, chunk] of some.entries()) chunk.sequence = sequences[at] ?? 0
        await writeIndexes(transaction, { engine, space }, some)
      },
    )
  }
}
