import type { Kysely } from 'kysely'
import type { AgentTables } from '#storage/tables.ts'

type Database = Kysely<AgentTables>

/** The right to answer in a conversation, until it is released or not renewed in time. */
export interface Lock {
  conversationId: string
  /** Fencing token: a write that names an older one than the conversation's has lost the right. */
  token: number
}

interface Lease {
  holder: string
  now: string
  expiresAt: string
}

/** Undefined, and nothing is changed, while somebody else holds it or if there is no such conversation. */
export async function takeLock(
  database: Database,
  conversationId: string,
  { holder, now, expiresAt }: Lease,
): Promise<Lock | undefined> {
  const locked = await database
    .updateTable('conversations')
    .set(({ eb }) => ({
      lock_holder: holder,
      lock_token: eb('lock_token', '+', 1),
      lock_expires_at: expiresAt,
    }))
    .where('id', '=', conversationId)
    .where(({ eb, or }) => or([eb('lock_holder', 'is', null), eb('lock_expires_at', '<=', now)]))
    .returning('lock_token')
    .executeTakeFirst()
  return locked && { conversationId, token: locked.lock_token }
}

/** False if the lease has gone to somebody else. */
export async function extendLock(database: Database, lock: Lock, expiresAt: string): Promise<boolean> {
  const result = await held(database, lock).set({ lock_expires_at: expiresAt }).executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** False if the lease had gone to somebody else before. */
export async function dropLock(database: Database, lock: Lock): Promise<boolean> {
  const result = await held(database, lock)
    .set({ lock_holder: null, lock_expires_at: null })
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Whether each conversation is locked; of one, or of all. */
export async function listLocked(database: Database, now: string, conversationId?: string) {
  const conversations = await database
    .selectFrom('conversations')
    .select(['lock_holder', 'lock_expires_at'])
    .$if(conversationId !== undefined, query => query.where('id', '=', conversationId ?? ''))
    .execute()
  return conversations.map(
    ({ lock_holder, lock_expires_at }) => lock_holder !== null && (lock_expires_at ?? '') > now,
  )
}

function held(database: Database, { conversationId, token }: Lock) {
  return database
    .updateTable('conversations')
    .where('id', '=', conversationId)
    .where('lock_token', '=', token)
}
