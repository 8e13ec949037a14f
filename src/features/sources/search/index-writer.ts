import { embedDocument } from '#models/builtin-embedding.ts'
import { searchableText } from '#models/text-analysis.ts'
import type { Ids } from '#platform/ids.ts'
import { createFullText, removeFullText, writeFullText } from '#storage/sqlite/full-text.ts'
import type { Vector, VectorSpace } from '#storage/sqlite/vectors.ts'
import { createVectors, removeVectors, vectorTables, writeVector } from '#storage/sqlite/vectors.ts'
import type { Chunk } from '../chunking/chunk-document.ts'
import { builtinSpace } from './builtin-space.ts'
import type { SearchDatabase } from './generations.ts'
import {
  createGenerations,
  forget,
  hiddenChunks,
  hideAll,
  settle,
  showNewest,
  unsettle,
} from './generations.ts'
import { inShortTransactions } from './short-transactions.ts'

export interface IndexWriter {
  /** Begins to replace the chunks of a source; what an attempt that died left behind is removed. */
  start(sourceId: string): Promise<void>
  /** Writes chunks of the source, which search does not show yet; without `embedded` they get built-in vectors. */
  add(sourceId: string, chunks: readonly Chunk[], embedded?: Embedded): Promise<void>
  /** Shows what was added since `start` instead of what was there before, and tells how many chunks that is. */
  finish(sourceId: string): Promise<number>
  /** Removes all chunks of a source; to be called before its row is deleted, which they refer to. */
  remove(sourceId: string): Promise<void>
}

/** A provider's vectors, one for each chunk. */
export interface Embedded {
  space: VectorSpace
  vectors: readonly Vector[]
}

interface Prepared {
  chunk: Chunk
  terms: string
  /** Undefined for a chunk without words, which only its terms could find. */
  vector: Vector | undefined
}

/** Chunks taken apart and embedded at a time, before the database is locked to write them. */
const batchSize = 32

/**
 * Writes the chunks of an agent's sources with their indexes. For worker threads: it computes for long and may wait for
 * locks. One at a time for each source; sources don't disturb one another.
 */
export function createIndexWriter({ db, ids }: { db: SearchDatabase; ids: Ids }): IndexWriter {
  async function removeHidden(sourceId: string): Promise<void> {
    const tables = await vectorTables(db)
    await inShortTransactions(db, await hiddenChunks(db, sourceId), async (transaction, sequence) => {
      await removeFullText(transaction, sequence)
      await removeVectors(transaction, tables, sequence)
      await transaction.deleteFrom('chunks').where('sequence', '=', sequence).execute()
    })
  }

  return {
    async start(sourceId) {
      await createTables(db)
      await unsettle(db, sourceId)
      await removeHidden(sourceId)
    },
    async add(sourceId, chunks, embedded) {
      const space = embedded?.space ?? builtinSpace
      await createVectors(db, space)
      for (let start = 0; start < chunks.length; start += batchSize) {
        const batch = chunks.slice(start, start + batchSize)
        const vectors = embedded?.vectors.slice(start, start + batchSize)
        const prepared = batch.map((chunk, index) => prepare(chunk, vectors?.[index]))
        await inShortTransactions(db, prepared, async (transaction, { chunk, terms, vector }) => {
          const { sequence } = await transaction
            .insertInto('chunks')
            .values({ id: ids.record(), source_id: sourceId, ...columns(chunk) })
            .returning('sequence')
            .executeTakeFirstOrThrow()
          await writeFullText(transaction, sequence, terms)
          if (vector !== undefined) await writeVector(transaction, space, sequence, vector)
        })
      }
    },
    async finish(sourceId) {
      const count = await showNewest(db, sourceId)
      await removeHidden(sourceId)
      await settle(db, sourceId)
      return count
    },
    async remove(sourceId) {
      await createTables(db)
      await unsettle(db, sourceId)
      await hideAll(db, sourceId)
      await removeHidden(sourceId)
      await forget(db, sourceId)
    },
  }
}

/** Without a migration, since each engine makes them differently; together, so that one tells of the other. */
async function createTables(db: SearchDatabase): Promise<void> {
  await db.transaction().execute(async transaction => {
    await createGenerations(transaction)
    await createFullText(transaction)
  })
}

/** The heading is found with the text below it, but is not part of what is shown. */
function prepare(chunk: Chunk, vector: Vector | undefined): Prepared {
  const text = chunk.section === null ? chunk.content : `${chunk.section}\n${chunk.content}`
  return { chunk, terms: searchableText(text), vector: vector ?? embedDocument(text) }
}

function columns({ content, page, section, start, end }: Chunk) {
  return { content, page, section, start_offset: start, end_offset: end }
}
