import type { PromptMessage } from '#models/language-model/language-model.ts'
import { parseJson } from '#platform/exact-json.ts'
import type { AgentDatabase } from '#storage/tables.ts'
import type { Trails } from './conversation.ts'

const hourMs = 60 * 60_000
/** Max trails of long conversations, which editors send; trails of the last hour are at their end. */
const maxCalls = 1000

/** Stores a trail, and deletes expired ones. @param now in milliseconds, as `keptMs` */
export async function keepTrail(
  db: AgentDatabase,
  { messages, ...of }: { call_id: string; caller: string; messages: readonly PromptMessage[] },
  now: number,
  keptMs = hourMs,
): Promise<void> {
  await db.deleteFrom('openai_trails').where('expires_at', '<=', now).execute()
  const row = { ...of, messages: JSON.stringify(messages), expires_at: now + keptMs }
  await db
    .insertInto('openai_trails')
    .values(row)
    .onConflict(of => of.doNothing())
    .execute()
}

/** Returns true if the trail existed; of several callers one succeeds. */
export async function forgetTrail(db: AgentDatabase, id: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('openai_trails').where('call_id', '=', id).executeTakeFirst()
  return numDeletedRows > 0
}

/** Returns the trails of the caller. @param now in milliseconds */
export async function findTrails(
  db: AgentDatabase,
  { ids, caller }: { ids: readonly string[]; caller: string },
  now: number,
): Promise<Trails> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('openai_trails')
    .select(['call_id', 'messages'])
    .where('call_id', 'in', ids.slice(-maxCalls))
    .where('caller', '=', caller)
    .where('expires_at', '>', now)
    .execute()
  return new Map(rows.map(({ call_id, messages }) => [call_id, parseJson(messages) as PromptMessage[]]))
}
