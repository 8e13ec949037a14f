/** Reads and writes the columns of sources that searching and embedding need. */
import type { NotNull } from 'kysely'
import type { AgentDatabase as Database } from '#storage/tables.ts'

function selectSources(db: Database) {
  return db.selectFrom('sources').where('removed_at', 'is', null)
}

export async function isSource(db: Database, id: string): Promise<boolean> {
  return (await selectSources(db).select('id').where('id', '=', id).executeTakeFirst()) !== undefined
}

export interface DocumentList {
  total: number
  documents: { name: string; status: string }[]
}

/** Returns names and states of the first sources by name, and the total number. */
export async function listDocuments(db: Database, limit: number): Promise<DocumentList> {
  const documents = await selectSources(db)
    .select(['name', 'status'])
    .orderBy('name')
    .orderBy('id')
    .limit(limit)
    .execute()
  const { total } = await selectSources(db)
    .select(({ fn }) => fn.countAll().as('total'))
    .executeTakeFirstOrThrow()
  return { total: Number(total), documents }
}

/** A source that is being embedded again. */
export interface ChangingSource {
  id: string
  name: string
  chunks: number | null
  /** The earlier problem. */
  error: string | null
  /** The new embedding of its chunks. */
  new_embedding: string
}

function selectChanging(db: Database) {
  return selectSources(db)
    .select(['id', 'name', 'chunks', 'error', 'new_embedding'])
    .where('status', '=', 'updating')
    .where('new_embedding', 'is not', null)
    .$narrowType<{ new_embedding: NotNull }>()
}

/** Returns the source; undefined if it is not being embedded again. */
export async function findChanging(db: Database, id: string): Promise<ChangingSource | undefined> {
  return await selectChanging(db).where('id', '=', id).executeTakeFirst()
}

/** Returns true if any source is being embedded again. */
export async function isAnyChanging(db: Database): Promise<boolean> {
  return (await selectChanging(db).limit(1).executeTakeFirst()) !== undefined
}

/** A source to embed again. */
export interface NextSource {
  id: string
  /** True if its processing failed before, which its status must show again afterwards. */
  isBroken: boolean
}

/**
 * Returns an idle source with chunks of another embedding than this, or one that failed to get yet another
 * embedding. A source that failed to get this embedding is left out: it would fail again.
 */
export async function nextToChange(db: Database, embedding: string): Promise<NextSource | undefined> {
  const row = await db
    .selectFrom('sources')
    .select(['id', 'status', 'new_embedding'])
    .where('removed_at', 'is', null)
    .where(({ and, or, eb, exists, selectFrom }) =>
      or([
        and([
          or([
            eb('status', '=', 'ready'),
            and([eb('status', '=', 'error'), eb('new_embedding', 'is', null)]),
          ]),
          exists(
            selectFrom('chunk_generations')
              .select('source_id')
              .whereRef('source_id', '=', 'sources.id')
              .where('embedding', '!=', embedding)
              .whereRef('first_sequence', '<=', 'last_sequence'),
          ),
        ]),
        and([eb('status', '=', 'error'), eb('new_embedding', '!=', embedding)]),
      ]),
    )
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return row && { id: row.id, isBroken: row.status === 'error' && row.new_embedding === null }
}

/** Makes failed sources ready for another try, with any embedding. */
export async function forgetFailures(db: Database): Promise<void> {
  await db
    .updateTable('sources')
    .set({ new_embedding: '' })
    .where('status', '=', 'error')
    .where('new_embedding', 'is not', null)
    .execute()
}

interface SourceChanges {
  status?: 'updating' | 'ready' | 'error'
  error?: string | null
  progress?: number
  /** A JSON array of sentences. */
  warnings?: string | null
  /** The new embedding. A status change that doesn't set it clears it. */
  new_embedding?: string
  updated_at?: string
}

/** Returns false if the source does not exist. */
export async function changeSource(db: Database, id: string, changes: SourceChanges): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('sources')
    .set({ ...(changes.status !== undefined && { new_embedding: null }), ...changes })
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
