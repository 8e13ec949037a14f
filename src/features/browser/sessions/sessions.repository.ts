import type { Kysely, Selectable } from 'kysely'
import { listOf } from '#platform/http/lists/list-of.ts'
import { type ListParameters, listRows, type Page } from '#platform/http/lists/list-query.ts'
import { browserTables } from '#storage/tables/browser.ts'
import type { AgentTables } from '#storage/tables.ts'
import { openStatuses, type SessionStatus } from './session-status.ts'
import type { SessionRecord } from './sessions.schema.ts'

type Database = Kysely<AgentTables>
type SessionRow = Selectable<AgentTables['browser_sessions']>

/** Max ended sessions that an agent keeps, the newest. */
const keptSessions = 1000

const sessionList = listOf(browserTables.columns.browser_sessions, {
  sortable: ['id', 'status', 'created_at', 'last_activity'],
  searchable: ['id', 'status', 'user_agent', 'profile'],
})

export async function listSessions(database: Database, query: ListParameters): Promise<Page<SessionRecord>> {
  const page = await listRows(database.selectFrom('browser_sessions').selectAll(), sessionList, query)
  return { ...page, rows: page.rows.map(toSession) }
}

export async function findSession(database: Database, id: string): Promise<SessionRecord | undefined> {
  const row = await database
    .selectFrom('browser_sessions')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  return row && toSession(row)
}

/** Returns true if a session of any process uses the profile. */
export async function isProfileInUse(database: Database, profile: string): Promise<boolean> {
  const row = await database
    .selectFrom('browser_sessions')
    .select('id')
    .where('profile', '=', profile)
    .where('status', 'in', openStatuses)
    .executeTakeFirst()
  return row !== undefined
}

interface Holder {
  instanceId: string
  leaseUntil: string
  replicaUrl: string | undefined
}

/** Returns the live process that holds the open session; undefined if there is none. */
export async function findHolder(
  database: Database,
  id: string,
  now: string,
): Promise<Omit<Holder, 'leaseUntil'> | undefined> {
  const row = await database
    .selectFrom('browser_sessions')
    .select(['instance_id', 'replica_url'])
    .where('id', '=', id)
    .where('status', 'in', openStatuses)
    .where('lease_until', '>=', now)
    .executeTakeFirst()
  return row && { instanceId: row.instance_id, replicaUrl: row.replica_url ?? undefined }
}

/** Inserts a session, and deletes ended ones above the limit without a separate job; returns their ids. */
export async function insertSession(
  database: Database,
  { viewport, headless, ...session }: SessionRecord,
  { instanceId, leaseUntil, replicaUrl }: Holder,
): Promise<string[]> {
  await database
    .insertInto('browser_sessions')
    .values({
      ...session,
      headless: headless ? 1 : 0,
      viewport_width: viewport.width,
      viewport_height: viewport.height,
      instance_id: instanceId,
      lease_until: leaseUntil,
      replica_url: replicaUrl ?? null,
    })
    .execute()
  const ended = database.selectFrom('browser_sessions').select('id').where('status', 'not in', openStatuses)
  const surplus = await ended.orderBy('created_at', 'desc').offset(keptSessions).limit(100).execute()
  const ids = surplus.map(({ id }) => id)
  if (ids.length > 0) await database.deleteFrom('browser_sessions').where('id', 'in', ids).execute()
  return ids
}

/** Deletes a session that could not be opened. */
export async function deleteSession(database: Database, id: string): Promise<void> {
  await database.deleteFrom('browser_sessions').where('id', '=', id).execute()
}

/** Stores that the session is still held, and its state; does nothing if it has ended. */
export async function renewSession(
  database: Database,
  id: string,
  held: { lease_until: string; last_activity: string; status: SessionStatus },
): Promise<void> {
  await database
    .updateTable('browser_sessions')
    .set(held)
    .where('id', '=', id)
    .where('status', 'in', openStatuses)
    .execute()
}

/** Does nothing if the session has ended already. */
export async function endSession(
  database: Database,
  id: string,
  ended: { status: SessionStatus; last_activity: string },
): Promise<void> {
  await database
    .updateTable('browser_sessions')
    .set({ ...ended, lease_until: null })
    .where('id', '=', id)
    .where('status', 'in', openStatuses)
    .execute()
}

/** Ends the sessions of dead processes; mostly there are none, and nothing is written. */
export async function endLostSessions(database: Database, instanceId: string, now: string): Promise<void> {
  const lost = await database
    .selectFrom('browser_sessions')
    .select('id')
    .where('status', 'in', openStatuses)
    .where('instance_id', '!=', instanceId)
    .where(({ eb, or }) => or([eb('lease_until', 'is', null), eb('lease_until', '<', now)]))
    .execute()
  if (lost.length === 0) return
  const ids = lost.map(({ id }) => id)
  const update = database.updateTable('browser_sessions').set({ status: 'error', lease_until: null })
  await update.where('id', 'in', ids).execute()
}

function toSession(row: SessionRow): SessionRecord {
  const { id, status, headless, viewport_width: width, viewport_height: height } = row
  const { user_agent, profile, created_at, last_activity } = row
  return {
    id,
    status: status as SessionStatus,
    headless: headless === 1,
    viewport: { width, height },
    user_agent,
    profile,
    created_at,
    last_activity,
  }
}
