/**
 * Which chunks of a document search may show: of an uploaded file, which is one, or of a page of a website. Each processing
 * writes a generation of new chunks beside the old ones, as a draft: all of them are stored first, then they go into the
 * indexes. A single update of the range below then shows the new and hides the old, which are removed afterwards. So search
 * never sees half a source, whatever dies when, no transaction is long, and an attempt that died is continued by the next one.
 *
 * Each run names itself here when it begins, and each write of it asks for that name in the statement or transaction in
 * which it is made: one that lives on after its lease was lost can't mix its chunks with those of the run after it. The
 * name is the source's, whatever documents it has.
 */
import type { Expression, ExpressionBuilder, Kysely, Selectable } from 'kysely'
import { sql } from 'kysely'
import { inTransaction } from '#platform/transaction.ts'
import type { ValueOf } from '#storage/prepared-query.ts'
import { prepareQuery } from '#storage/prepared-query.ts'
import type { AgentTables } from '#storage/tables.ts'

type Database = Kysely<AgentTables>

/** A part of a source whose chunks are shown together. */
export interface DocumentPlace {
  sourceId: string
  /** The page of a website; left out for a source that is one document. */
  document?: string
}

/** One run of what writes a source's chunks, at work on one of its documents. */
export interface Attempt extends DocumentPlace {
  /** Unlike that of every other run, also of the same job. */
  attempt: string
}

const nothing = { first_sequence: 1, last_sequence: 0 }
/** Stands for the source itself, and for the document of one that has no other. */
const whole = ''

/** To be called when a run begins that writes documents of a source one by one: ends all other attempts. */
export async function takeOver(db: Database, { sourceId, attempt }: Attempt): Promise<void> {
  await inTransaction(db, async transaction => {
    const isThere = await transaction
      .updateTable('chunk_generations')
      .set({ attempt })
      .where('source_id', '=', sourceId)
      .returning('document')
      .execute()
    if (!isThere.some(({ document }) => document === whole))
      await write(transaction, { sourceId }, { settled: 1, draft: null, attempt })
  })
}

/** To be called before chunks of a document come or go that are not to be shown; ends its draft and other attempts. */
export async function unsettle(db: Database, attempt: Attempt): Promise<void> {
  const changes = { settled: 0, draft: null, attempt: attempt.attempt }
  if (attempt.document === undefined) return await write(db, attempt, changes)
  await inTransaction(db, async transaction => {
    await requireAttempt(transaction, attempt)
    await write(transaction, attempt, changes)
  })
}

/** Shows no chunk of the source any more, and ends all attempts but the one that is named. */
export async function hide(db: Database, sourceId: string, attempt: string | null = null): Promise<void> {
  const changes = { ...nothing, settled: 0, draft: null, attempt }
  await write(db, { sourceId }, changes)
  await db.updateTable('chunk_generations').set(changes).where('source_id', '=', sourceId).execute()
}

/** Shows no chunk of this document any more. */
export async function hideDocument(db: Database, attempt: Attempt): Promise<void> {
  await unsettle(db, attempt)
  await change(db, attempt, nothing)
}

async function write(
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
 * To be called first in a transaction that writes chunks or their indexes: until it ends, no other attempt can begin.
 * Reading would not do, since one could begin, and look what is there to be removed, before this transaction is committed.
 */
export async function requireAttempt(db: Database, { sourceId, attempt }: Attempt): Promise<void> {
  await change(db, { sourceId, attempt }, { attempt })
}

type Changes = Partial<Omit<Selectable<AgentTables['chunk_generations']>, 'source_id' | 'document'>>

/** @throws Error when another attempt has begun, or the source is gone. */
export async function change(
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

/** To be called when no chunks of the document are left but those shown. */
export async function settle(db: Database, attempt: Attempt): Promise<void> {
  await change(db, attempt, { settled: 1 })
}

/** To be called when all chunks of a draft are stored, since `unsettle`; from here on it may be continued. */
export async function completeDraft(db: Database, attempt: Attempt, draft: string): Promise<void> {
  await change(db, attempt, { draft })
}

/** Makes the draft this attempt's. False unless all chunks of it are stored and none is shown yet. */
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

/** Numbers of chunks of the document's draft: all of them, and those that are in the indexes. */
export async function countDraft(
  db: Database,
  place: DocumentPlace,
): Promise<{ stored: number; indexed: number }> {
  const row = await generationOf(db, place)
    .select(({ fn, eb }) => [
      fn.countAll().as('stored'),
      fn.count(eb.case().when('sequence', '<=', eb.ref('indexed_sequence')).then(1).end()).as('indexed'),
    ])
    .whereRef('sequence', '>', 'last_sequence')
    .executeTakeFirstOrThrow()
  return { stored: Number(row.stored), indexed: Number(row.indexed) }
}

/** The next chunks of the draft that are in no index yet. */
export async function nextUnindexed(db: Database, place: DocumentPlace, limit: number) {
  const rows = await generationOf(db, place)
    .select(['sequence', 'content', 'section'])
    .whereRef('sequence', '>', 'indexed_sequence')
    .orderBy('sequence')
    .limit(limit)
    .execute()
  return rows.map(row => ({ ...row, sequence: Number(row.sequence) }))
}

/** To be called in the transaction that puts chunks into the indexes, with the last one's sequence. */
export async function markIndexed(db: Database, attempt: Attempt, sequence: number): Promise<void> {
  await change(db, attempt, { indexed_sequence: sequence })
}

/**
 * Shows the chunks stored since the last call instead of those shown so far, and tells how many they are. To be called in
 * a transaction that begins with `requireAttempt`. `embedding` names the one of their vectors.
 */
export async function showNewest(db: Database, attempt: Attempt, embedding: string): Promise<number> {
  const newest = await generationOf(db, attempt)
    .select(({ fn }) => [
      fn.min('sequence').as('first'),
      fn.max('sequence').as('last'),
      fn.countAll().as('count'),
    ])
    .whereRef('sequence', '>', 'last_sequence')
    .executeTakeFirstOrThrow()
  const count = Number(newest.count)
  const range = { first_sequence: Number(newest.first), last_sequence: Number(newest.last) }
  await change(db, attempt, { ...(count === 0 ? nothing : range), draft: null, embedding })
  return count
}

/** Shows all chunks of a document that was not known before, in the transaction that stores them and puts them into the indexes. */
export async function showNew(
  db: Database,
  { sourceId, document = whole, attempt }: Attempt,
  range: { first: number; last: number } | undefined,
  embedding: string,
): Promise<void> {
  const { first_sequence, last_sequence } =
    range === undefined ? nothing : { first_sequence: range.first, last_sequence: range.last }
  await insertShown(db, {
    ...{ source_id: sourceId, document, attempt, embedding },
    ...{ first_sequence, last_sequence, indexed_sequence: last_sequence },
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

/** Those of the source's documents of which there are chunks, or may be. */
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

/** Forgets a document that has no chunks any more, or without one a source. */
export async function forget(db: Database, { sourceId, document, attempt }: Attempt): Promise<void> {
  const all = db
    .deleteFrom('chunk_generations')
    .where('source_id', '=', sourceId)
    .where('attempt', '=', attempt)
  const query = document === undefined ? all : all.where('document', '=', document)
  const { numDeletedRows } = await query.executeTakeFirstOrThrow()
  if (numDeletedRows === 0n) throw new Error(ended)
}

/** The sequences of the document's chunks that are not shown, or without one of all the source's. */
export async function hiddenChunks(db: Database, { sourceId, document }: DocumentPlace): Promise<number[]> {
  const ofSource = generations(db).where('chunks.source_id', '=', sourceId)
  const rows = await (document === undefined ? ofSource : ofSource.where('chunks.document', '=', document))
    .select('sequence')
    .where(builder => builder.not(isShown(builder)))
    .execute()
  return rows.map(row => Number(row.sequence))
}

/** Selects the sequences of the chunks that may be shown, of one embedding if it is given; undefined where every chunk may. */
export async function shownChunks(
  db: Database,
  sourceId: string | undefined,
  embedding?: string,
): Promise<Expression<unknown> | undefined> {
  if (embedding !== undefined) {
    const embedded = generations(db).where('embedding', '=', embedding).select('sequence').where(isShown)
    return sourceId === undefined ? embedded : embedded.where('chunks.source_id', '=', sourceId)
  }
  if (sourceId !== undefined)
    return generations(db).where('chunks.source_id', '=', sourceId).select('sequence').where(isShown)
  return (await hidesAny(db)) ? generations(db).select('sequence').where(isShown) : undefined
}

async function hidesAny(db: Database): Promise<boolean> {
  return (await selectUnsettled(db, {})).length > 0
}

/** Without parameters, as what a search asks first may go along with the beginning of its transaction. */
const selectUnsettled = prepareQuery((db: Database) =>
  db.selectFrom('chunk_generations').select('source_id').where('settled', '=', sql.lit(0)).limit(sql.lit(1)),
)

/** Chunks beside what is known of their document's generations. */
export function generations(db: Database) {
  return db
    .selectFrom('chunks')
    .innerJoin('chunk_generations', join =>
      join
        .onRef('chunk_generations.source_id', '=', 'chunks.source_id')
        .onRef('chunk_generations.document', '=', 'chunks.document'),
    )
}

export function generationOf(db: Database, { sourceId, document = whole }: DocumentPlace) {
  return generations(db).where('chunks.source_id', '=', sourceId).where('chunks.document', '=', document)
}

export function isShown({ eb, and, ref }: ExpressionBuilder<AgentTables, 'chunks' | 'chunk_generations'>) {
  return and([eb('sequence', '>=', ref('first_sequence')), eb('sequence', '<=', ref('last_sequence'))])
}
