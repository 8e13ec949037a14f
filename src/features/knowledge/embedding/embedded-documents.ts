/**
 * Changes the embedding that finds documents: a document keeps its old vectors until all its chunks have new
 * ones, and a single update then switches to those.
 */
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentDatabase as Database } from '#storage/tables.ts'
import {
  type Attempt,
  changeGeneration,
  type DocumentPlace,
  requireAttempt,
} from '../indexing/generations.ts'

/** Returns a document of the source whose shown chunks have another embedding. */
export async function documentWithout(
  db: Database,
  sourceId: string,
  embedding: string,
): Promise<{ place: DocumentPlace; first: number; last: number } | undefined> {
  const row = await db
    .selectFrom('chunk_generations')
    .select(['document', 'first_sequence', 'last_sequence'])
    .where('source_id', '=', sourceId)
    .where('embedding', '!=', embedding)
    .whereRef('first_sequence', '<=', 'last_sequence')
    .orderBy('document')
    .limit(1)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const place = { sourceId, ...(row.document !== '' && { document: row.document }) }
  return { place, first: Number(row.first_sequence), last: Number(row.last_sequence) }
}

/** Counts the source's documents with shown chunks: in total, and with this embedding. */
export async function countEmbedded(
  db: Database,
  sourceId: string,
  embedding: string,
): Promise<{ all: number; embedded: number }> {
  const row = await db
    .selectFrom('chunk_generations')
    .where('source_id', '=', sourceId)
    .whereRef('first_sequence', '<=', 'last_sequence')
    .select(({ fn, eb }) => [
      fn.countAll().as('shown'),
      fn.count(eb.case().when('embedding', '=', embedding).then(1).end()).as('embedded'),
    ])
    .executeTakeFirstOrThrow()
  return { all: Number(row.shown), embedded: Number(row.embedded) }
}

/** Switches the document to this embedding. Must be called once all shown chunks have its vectors. */
export async function showEmbedding(db: Database, attempt: Attempt, embedding: string): Promise<void> {
  const { sourceId, document } = attempt
  await inTransaction(db, async transaction => {
    await requireAttempt(transaction, attempt)
    await changeGeneration(transaction, attempt, { embedding })
    if (document === undefined) return
    await transaction
      .updateTable('crawl_pages')
      .set({ embedding })
      .where('source_id', '=', sourceId)
      .where('document', '=', document)
      .execute()
  })
}
