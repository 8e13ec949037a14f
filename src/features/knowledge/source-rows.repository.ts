/** The part of the sources' rows that searching and embedding need. */
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

/** The names and states of the sources, the first ones by name, and how many there are. */
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

/** A source whose chunks are being given another embedding. */
export interface ChangingSource {
  id: string
  name: string
  chunks: number | null
  /** Its earlier problem. */
  error: string | null
  /** The embedding that its chunks are being given. */
  new_embedding: string
}

function selectChanging(db: Database) {
  return selectSources(db)
    .select(['id', 'name', 'chunks', 'error', 'new_embedding'])
    .where('status', '=', 'updating')
    .where('new_embedding', 'is not', null)
    .$narrowType<{ new_embedding: NotNull }>()
}

/** Undefined if this source's chunks are not being given another embedding. */
export async function findChanging(db: Database, id: string): Promise<ChangingSource | undefined> {
  return await selectChanging(db).where('id', '=', id).executeTakeFirst()
}

/** Whether any source's chunks are being given another embedding. */
export async function isAnyChanging(db: Database): Promise<boolean> {
  return (await selectChanging(db).limit(1).executeTakeFirst()) !== undefined
}

/** A source that is to get another embedding. */
export interface NextSource {
  id: string
  /** Processing it again failed, which its status shows afterwards as before. */
  isBroken: boolean
}

/**
 * A source that nothing is at work on and that has chunks of another embedding than this, or that failed to get yet
 * another one. One that failed to get this one is none: it would fail again.
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

/** Sources that failed are tried again, for any embedding. */
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
  /** JSON array of sentences. */
  warnings?: string | null
  /** Cleared by each change of the status that does not name it. */
  new_embedding?: string
  updated_at?: string
}

/** False if there is no such source any more. */
export async function changeSource(db: Database, id: string, changes: SourceChanges): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('sources')
    .set({ ...(changes.status !== undefined && { new_embedding: null }), ...changes })
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
