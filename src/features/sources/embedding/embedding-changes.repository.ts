/** Which sources are to get the vectors of another embedding. */
import type { Kysely } from 'kysely'
import type { AgentTables } from '#storage/tables.ts'

type Database = Kysely<AgentTables>

/** Whether a source's chunks are being given another embedding; of that source, if it is named. */
export async function isUnderWay(db: Database, sourceId?: string): Promise<boolean> {
  const changing = db
    .selectFrom('sources')
    .select('id')
    .where('status', '=', 'updating')
    .where('new_embedding', 'is not', null)
    .where('removed_at', 'is', null)
  const one = sourceId === undefined ? changing : changing.where('id', '=', sourceId)
  return (await one.limit(1).executeTakeFirst()) !== undefined
}

/** A source that is to get another embedding. */
export interface NextSource {
  id: string
  /** It could not be processed anew, which is to be told afterwards as before. */
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

/** The embedding that the source's chunks are being given. */
export async function newEmbeddingOf(db: Database, sourceId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('sources')
    .select('new_embedding')
    .where('id', '=', sourceId)
    .executeTakeFirst()
  return row?.new_embedding ?? undefined
}

/** Sources that failed are tried again, whatever embedding they are to get. */
export async function forgetFailures(db: Database): Promise<void> {
  await db
    .updateTable('sources')
    .set({ new_embedding: '' })
    .where('status', '=', 'error')
    .where('new_embedding', 'is not', null)
    .execute()
}
