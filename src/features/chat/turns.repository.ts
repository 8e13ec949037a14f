import type { Kysely } from 'kysely'
import type { AgentTables } from '#storage/tables.ts'
import { reachedConversations } from './conversations.repository.ts'
import type { Reach } from './reach.ts'

type Database = Kysely<AgentTables>

/** The turn that the lock of a conversation was last taken for. */
export interface MarkedTurn {
  id: string
  by: string
  since: string
  conversationId: string
  isRunning: boolean
}

/** By the id of the conversation, or of the turn itself. @param now ISO 8601 */
export async function findMarked(
  database: Database,
  by: { conversationId: string } | { turnId: string },
  reach: Reach,
  now: string,
): Promise<MarkedTurn | undefined> {
  const [column, value] =
    'turnId' in by ? (['turn_id', by.turnId] as const) : (['id', by.conversationId] as const)
  const row = await reachedConversations(database, reach)
    .select(['id', 'turn_id', 'turn_by', 'turn_since', 'lock_holder', 'lock_expires_at'])
    .where(column, '=', value)
    .where('turn_id', 'is not', null)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { id: conversationId, turn_id, turn_by, turn_since, lock_holder, lock_expires_at } = row
  const isRunning = lock_holder !== null && (lock_expires_at ?? '') > now
  return { id: turn_id ?? '', by: turn_by ?? '', since: turn_since ?? '', conversationId, isRunning }
}
