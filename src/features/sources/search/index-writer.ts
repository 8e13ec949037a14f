import type { Transaction } from 'kysely'
import { embedDocument } from '#models/builtin-embedding.ts'
import { searchableText } from '#models/text-analysis.ts'
import type { Ids } from '#platform/ids.ts'
import { inTransaction } from '#platform/transaction.ts'
import type { SearchDatabase, Vector, VectorSpace } from '#storage/search-engine.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Chunk } from '../chunking/chunk-document.ts'
import { builtinSpace } from './builtin-space.ts'
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
import { indexedText } from './indexed-text.ts'
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
  add(sourceId: string, chunks: readonly Chunk[], embedded?: Embedded): Promise<void>
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

interface Prepared {
  sequence: number
  terms: string
  /** Undefined for a chunk without words, which only its terms could find. */
  vector: Vector | undefined
}

/** Chunks taken apart and embedded at a time, before the database is locked to write them. */
const batchSize = 32

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

  async function store(sourceId: string, chunks: readonly Chunk[]): Promise<void> {
    const place = { source_id: sourceId, document: document ?? '' }
    const rows = chunks.map(chunk => ({ id: needs.ids.record(), ...place, ...columns(chunk) }))
    await inShortTransactions(placeOf(sourceId), batches(rows), async (transaction, batch) => {
      await transaction.insertInto('chunks').values(batch).execute()
    })
  }

  async function index(sourceId: string, limit: number, embedded?: Embedded): Promise<number> {
    const space = embedded?.space ?? builtinSpace
    await engine.createVectors(db, space)

    async function write(transaction: Transaction<AgentTables>, { sequence, terms, vector }: Prepared) {
      await engine.writeFullText(transaction, sequence, terms)
      if (vector !== undefined) await engine.writeVector(transaction, space, sequence, vector)
      await markIndexed(transaction, attemptAt(sourceId), sequence)
    }

    const stored = await nextUnindexed(db, attemptAt(sourceId), limit)
    const vectors = embedded && batches(embedded.vectors)
    for (const [number, batch] of batches(stored).entries()) {
      const prepared = batch.map((chunk, at) => prepare(chunk, vectors?.[number]?.[at]))
      await inShortTransactions(placeOf(sourceId), prepared, write)
    }
    return stored.length
  }

  return {
    async start(sourceId) {
      await unsettle(db, attemptAt(sourceId))
      await removeHidden(sourceId)
    },
    store,
    complete: (sourceId, draft) => completeDraft(db, attemptAt(sourceId), draft),
    index,
    async add(sourceId, chunks, embedded) {
      await store(sourceId, chunks)
      await index(sourceId, chunks.length, embedded)
    },
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

function prepare(
  { sequence, content, section }: { sequence: number; content: string; section: string | null },
  vector: Vector | undefined,
): Prepared {
  const text = indexedText({ content, section })
  return { sequence, terms: searchableText(text), vector: vector ?? embedDocument(text) }
}

function columns({ content, page, section, start, end }: Chunk) {
  return { content, page, section, start_offset: start, end_offset: end }
}

function batches<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / batchSize) }, (_, number) =>
    items.slice(number * batchSize, (number + 1) * batchSize),
  )
}
