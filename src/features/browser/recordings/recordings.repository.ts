import type { Kysely, Selectable } from 'kysely'
import type { AgentTables } from '#storage/tables.ts'

type Database = Kysely<AgentTables>
export type Recording = Omit<Selectable<AgentTables['browser_recordings']>, 'session_id'>

export async function findRecording(database: Database, sessionId: string): Promise<Recording | undefined> {
  return await database
    .selectFrom('browser_recordings')
    .select(['size', 'started_at', 'ended_at'])
    .where('session_id', '=', sessionId)
    .executeTakeFirst()
}

export async function findPiece(
  database: Database,
  sessionId: string,
  number: number,
): Promise<Uint8Array | undefined> {
  const row = await database
    .selectFrom('browser_recording_pieces')
    .select('events')
    .where('session_id', '=', sessionId)
    .where('number', '=', number)
    .executeTakeFirst()
  return row?.events
}

interface Piece {
  sessionId: string
  number: number
  events: Uint8Array
  now: string
}

/** Returns false and stores nothing if the recording was deleted after its first piece. */
export async function insertPiece(
  database: Database,
  { sessionId: session_id, number, events, now }: Piece,
): Promise<boolean> {
  const size = events.length
  if (number === 0) {
    const recording = { session_id, size, started_at: now, ended_at: now }
    await database.insertInto('browser_recordings').values(recording).execute()
  } else {
    const { numUpdatedRows } = await database
      .updateTable('browser_recordings')
      .set(({ eb }) => ({ size: eb('size', '+', size), ended_at: now }))
      .where('session_id', '=', session_id)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) return false
  }
  await database.insertInto('browser_recording_pieces').values({ session_id, number, events }).execute()
  return true
}

/** Lists the oldest recordings over a total of this many bytes, without this session's. */
export async function listSuperfluous(
  database: Database,
  maxBytes: number,
  sessionId: string,
): Promise<string[]> {
  const newestFirst = await database
    .selectFrom('browser_recordings')
    .select(['session_id', 'size'])
    .orderBy('ended_at', 'desc')
    .orderBy('started_at', 'desc')
    .execute()
  let bytes = 0
  const superfluous = newestFirst.filter(({ size }) => {
    bytes += size
    return bytes > maxBytes
  })
  return superfluous.map(({ session_id }) => session_id).filter(id => id !== sessionId)
}

/** Deletes piece by piece, because megabytes at once would block other requests. */
export async function deleteRecordings(database: Database, sessionIds: readonly string[]): Promise<void> {
  if (sessionIds.length === 0) return
  await database.deleteFrom('browser_recordings').where('session_id', 'in', sessionIds).execute()
  for (const sessionId of sessionIds)
    for (let number = 0; await deletePiece(database, sessionId, number); number += 1);
}

async function deletePiece(database: Database, sessionId: string, number: number): Promise<boolean> {
  const deleted = await database
    .deleteFrom('browser_recording_pieces')
    .where('session_id', '=', sessionId)
    .where('number', '=', number)
    .executeTakeFirst()
  return deleted.numDeletedRows > 0n
}
