/**
 * Selects the chunks of a document that search may show. A document is an uploaded file or a page of a
 * website. Each processing writes a generation of new chunks beside the old ones, as a draft: first all are
 * stored, then indexed. A single update of the range below then shows the new ones and hides the old, which
 * are removed afterwards. So search never sees half a source, even after a crash; no transaction is long, and
 * the next attempt continues the last.
 *
 * Each run enters its name here when it begins, and each of its writes requires that name in the same
 * statement or transaction: a run that lives on after losing its lease cannot mix its chunks with those of
 * its successor. The row without a document holds this attempt for the whole source; it is also the
 * generation of a source with a single document.
 */
import { type Expression, type ExpressionBuilder, type Selectable, sql } from 'kysely'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentTables, AgentDatabase as Database } from '#storage/tables.ts'

/** A part of a source whose chunks are shown together. */
export interface DocumentPlace {
  sourceId: string
  /** The page of a website; absent for a source with a single document. */
  document?: string
}

/** One run that writes a source's chunks, at work on one of its documents. */
export interface Attempt extends DocumentPlace {
  /** The attempt's name, unique among all runs, including those of the same job. */
  attempt: string
}

const nothing = { first_sequence: 1, last_sequence: 0 }
/** The name for the source itself, and for the document of a source with only one. */
const whole = ''

/** Ends all other attempts. Called when a run begins that writes a source's documents one by one. */
export async function beginAttempt(db: Database, { sourceId, attempt }: Attempt): Promise<void> {
  await inTransaction(db, async transaction => {
    const isThere = await transaction
      .updateTable('chunk_generations')
      .set({ attempt })
      .where('source_id', '=', sourceId)
      .returning('document')
      .execute()
    if (!isThere.some(({ document }) => document === whole))
      await putGeneration(transaction, { sourceId }, { settled: 1, draft: null, attempt })
  })
}

/** Ends the document's draft and other attempts. Must be called before changes to hidden chunks. */
export async function unsettleDocument(db: Database, attempt: Attempt): Promise<void> {
  const changes = { settled: 0, draft: null, attempt: attempt.attempt }
  if (attempt.document === undefined) return await putGeneration(db, attempt, changes)
  await inTransaction(db, async transaction => {
    await requireAttempt(transaction, attempt)
    await putGeneration(transaction, attempt, changes)
  })
}

/** Hides all chunks of the source, and ends all attempts except the given one. */
export async function hideSource(
  db: Database,
  sourceId: string,
  attempt: string | null = null,
): Promise<void> {
  const changes = { ...nothing, settled: 0, draft: null, attempt }
  await putGeneration(db, { sourceId }, changes)
  await db.updateTable('chunk_generations').set(changes).where('source_id', '=', sourceId).execute()
}

export async function hideDocument(db: Database, attempt: Attempt): Promise<void> {
  await unsettleDocument(db, attempt)
  await changeGeneration(db, attempt, nothing)
}

async function putGeneration(
  db: Database,
  { sourceId, document = whole }: DocumentPlace,
  changes: {
    settled: number
    draft: null
    attempt: string | null
    first_sequence?: number
    last_sequence?: number
  },
): Promise<void> {
  await db
    .insertInto('chunk_generations')
    .values({ source_id: sourceId, document, ...nothing, ...changes, indexed_sequence: 0 })
    .onConflict(conflict => conflict.columns(['source_id', 'document']).doUpdateSet(changes))
    .execute()
}

/**
 * Must be called first in a transaction that writes chunks or indexes them: until its end, no other attempt
 * can begin. Reading the row would not be enough: another attempt could begin, and list the chunks to remove,
 * before this transaction is committed.
 */
export async function requireAttempt(db: Database, { sourceId, attempt }: Attempt): Promise<void> {
  await changeGeneration(db, { sourceId, attempt }, { attempt })
}

type Changes = Partial<Omit<Selectable<AgentTables['chunk_generations']>, 'source_id' | 'document'>>

/** Changes the row. @throws Error if another attempt has begun, or the source is gone. */
export async function changeGeneration(
  db: Database,
  { sourceId, document = whole, attempt }: Attempt,
  changes: Changes,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('chunk_generations')
    .set(changes)
    .where('source_id', '=', sourceId)
    .where('document', '=', document)
    .where('attempt', '=', attempt)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw new Error(ended)
}

const ended = 'Another attempt has taken over the chunks of this source.'

/** Marks the document once only its shown chunks are left. */
export async function settleDocument(db: Database, attempt: Attempt): Promise<void> {
  await changeGeneration(db, attempt, { settled: 1 })
}

/** Marks a draft with all chunks stored after `unsettleDocument`; it can now be continued. */
export async function completeDraft(db: Database, attempt: Attempt, draft: string): Promise<void> {
  await changeGeneration(db, attempt, { draft })
}

/** Makes this attempt the owner of the draft. False unless all its chunks are stored and none is shown. */
export async function continueDraft(
  db: Database,
  { sourceId, document = whole, attempt }: Attempt,
  draft: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('chunk_generations')
    .set({ attempt })
    .where('source_id', '=', sourceId)
    .where('document', '=', document)
    .where('draft', '=', draft)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Counts the chunks in the document's draft: in total, and indexed. */
export async function countDraft(
  db: Database,
  place: DocumentPlace,
): Promise<{ stored: number; indexed: number }> {
  const row = await chunksOf(db, place)
    .select(({ fn, eb }) => [
      fn.countAll().as('stored'),
      fn.count(eb.case().when('sequence', '<=', eb.ref('indexed_sequence')).then(1).end()).as('indexed'),
    ])
    .whereRef('sequence', '>', 'last_sequence')
    .executeTakeFirstOrThrow()
  return { stored: Number(row.stored), indexed: Number(row.indexed) }
}

/** Returns the next chunks of the draft that are not indexed yet. */
export async function nextUnindexed(db: Database, place: DocumentPlace, limit: number) {
  const rows = await chunksOf(db, place)
    .select(['sequence', 'content', 'section'])
    .whereRef('sequence', '>', 'indexed_sequence')
    .orderBy('sequence')
    .limit(limit)
    .execute()
  return rows.map(row => ({ ...row, sequence: Number(row.sequence) }))
}

/** Stores the last indexed sequence, in the transaction that indexes its chunk. */
export async function markIndexed(db: Database, attempt: Attempt, sequence: number): Promise<void> {
  await changeGeneration(db, attempt, { indexed_sequence: sequence })
}

/**
 * Shows the chunks stored after the last call instead of the former ones, and returns their number. Must be
 * called in a transaction that begins with `requireAttempt`. `embedding` is that of their vectors.
 */
export async function showDraft(db: Database, attempt: Attempt, embedding: string): Promise<number> {
  const newest = await chunksOf(db, attempt)
    .select(({ fn }) => [
      fn.min('sequence').as('first'),
      fn.max('sequence').as('last'),
      fn.countAll().as('count'),
    ])
    .whereRef('sequence', '>', 'last_sequence')
    .executeTakeFirstOrThrow()
  const count = Number(newest.count)
  const range = { first_sequence: Number(newest.first), last_sequence: Number(newest.last) }
  await changeGeneration(db, attempt, { ...(count === 0 ? nothing : range), draft: null, embedding })
  return count
}

/** Shows all chunks of a new document, in the transaction that stores and indexes them. */
export async function showNewDocument(
  db: Database,
  { sourceId, document = whole, attempt }: Attempt,
  range: { first: number; last: number } | undefined,
  embedding: string,
): Promise<void> {
  const { first_sequence, last_sequence } =
    range === undefined ? nothing : { first_sequence: range.first, last_sequence: range.last }
  await insertShown(db, {
    source_id: sourceId,
    document,
    attempt,
    embedding,
    first_sequence,
    last_sequence,
    indexed_sequence: last_sequence,
  })
}

const insertShown = prepareQuery((db: Database, value: ValueOf<ShownColumns>) =>
  db.insertInto('chunk_generations').values({
    source_id: value('source_id'),
    document: value('document'),
    first_sequence: value<number>('first_sequence'),
    last_sequence: value<number>('last_sequence'),
    settled: 1,
    draft: null,
    attempt: value('attempt'),
    indexed_sequence: value<number>('indexed_sequence'),
    embedding: value('embedding'),
  }),
)

type ShownColumns = Exclude<keyof Selectable<AgentTables['chunk_generations']>, 'settled' | 'draft'>

/** Returns the source's documents that have chunks, or might have some. */
export async function knownDocuments(
  db: Database,
  sourceId: string,
  documents: readonly string[],
): Promise<Set<string>> {
  const rows = await db
    .selectFrom('chunk_generations')
    .select('document')
    .where('source_id', '=', sourceId)
    .where('document', 'in', documents)
    .execute()
  return new Set(rows.map(({ document }) => document))
}

/** Forgets a document without chunks. */
export const forgetDocument = (db: Database, { sourceId, document = whole, attempt }: Attempt) =>
  forget(db, { source_id: sourceId, attempt, document })

/** Forgets a source without chunks, and all its documents. */
export const forgetSource = (db: Database, { sourceId, attempt }: Attempt) =>
  forget(db, { source_id: sourceId, attempt })

async function forget(db: Database, rows: { source_id: string; attempt: string; document?: string }) {
  const query = db.deleteFrom('chunk_generations').where(({ and }) => and(rows))
  const { numDeletedRows } = await query.executeTakeFirstOrThrow()
  if (numDeletedRows === 0n) throw new Error(ended)
}

/** Returns the sequences of hidden chunks of the document, or without one, of the source. */
export async function hiddenChunks(db: Database, { sourceId, document }: DocumentPlace): Promise<number[]> {
  const ofSource = withGenerations(db).where('chunks.source_id', '=', sourceId)
  const rows = await (document === undefined ? ofSource : ofSource.where('chunks.document', '=', document))
    .select('sequence')
    .where(builder => builder.not(isShown(builder)))
    .execute()
  return rows.map(row => Number(row.sequence))
}

/** Selects the visible chunks' sequences, of one embedding if given; undefined if all are visible. */
export async function shownChunks(
  db: Database,
  sourceIds: readonly string[] | undefined,
  embedding?: string,
): Promise<Expression<unknown> | undefined> {
  if (embedding !== undefined) {
    const embedded = withGenerations(db).where('embedding', '=', embedding).select('sequence').where(isShown)
    return sourceIds === undefined ? embedded : embedded.where('chunks.source_id', 'in', sourceIds)
  }
  if (sourceIds !== undefined)
    return withGenerations(db).where('chunks.source_id', 'in', sourceIds).select('sequence').where(isShown)
  return (await hidesAny(db)) ? withGenerations(db).select('sequence').where(isShown) : undefined
}

async function hidesAny(db: Database): Promise<boolean> {
  return (await selectUnsettled(db, {})).length > 0
}

/** Has no parameters because the first query of a search can be sent along with its transaction's start. */
const selectUnsettled = prepareQuery((db: Database) =>
  db.selectFrom('chunk_generations').select('source_id').where('settled', '=', sql.lit(0)).limit(sql.lit(1)),
)

export function withGenerations(db: Database) {
  return db
    .selectFrom('chunks')
    .innerJoin('chunk_generations', join =>
      join
        .onRef('chunk_generations.source_id', '=', 'chunks.source_id')
        .onRef('chunk_generations.document', '=', 'chunks.document'),
    )
}

export function chunksOf(db: Database, { sourceId, document = whole }: DocumentPlace) {
  return withGenerations(db).where('chunks.source_id', '=', sourceId).where('chunks.document', '=', document)
}

export function isShown({ eb, and, ref }: ExpressionBuilder<AgentTables, 'chunks' | 'chunk_generations'>) {
  return and([eb('sequence', '>=', ref('first_sequence')), eb('sequence', '<=', ref('last_sequence'))])
}
