import type { Kysely } from 'kysely'
import type { Clock } from '#platform/clock.ts'
import { AppError, notFound } from '#platform/errors.ts'
import type { AgentTables } from '#storage/tables.ts'

type Database = Kysely<AgentTables>

/** The right to answer in a conversation, until it is released or not renewed in time. */
export interface Lock {
  conversationId: string
  /** Fencing token: a write that names an older one than the conversation's has lost the right. */
  token: number
}

const leaseMs = 45_000
/** How often a holder renews, in milliseconds: two renewals may fail before the lease ends. */
export const renewalMs = 15_000

interface Needs {
  clock: Clock
  /** Names this process. */
  holder: string
}

/** The lock of conversations: a lease with a fencing token, so that its holder's death frees it. */
export function createConversationLock({ clock, holder }: Needs) {
  const expiry = () => new Date(clock.now() + leaseMs).toISOString()
  const now = () => new Date(clock.now()).toISOString()

  return {
    /** Throws CONVERSATION_LOCKED while somebody else holds it, NOT_FOUND without such a conversation. */
    async acquire(database: Database, conversationId: string): Promise<Lock> {
      const locked = await database
        .updateTable('conversations')
        .set(({ eb }) => ({
          lock_holder: holder,
          lock_token: eb('lock_token', '+', 1),
          lock_expires_at: expiry(),
        }))
        .where('id', '=', conversationId)
        .where(({ eb, or }) => or([eb('lock_holder', 'is', null), eb('lock_expires_at', '<=', now())]))
        .returning('lock_token')
        .executeTakeFirst()
      if (locked !== undefined) return { conversationId, token: locked.lock_token }
      await this.requireUnlocked(database, conversationId)
      throw conversationLocked()
    },

    /** False if the lease has gone to somebody else. */
    async renew(database: Database, lock: Lock): Promise<boolean> {
      const result = await held(database, lock).set({ lock_expires_at: expiry() }).executeTakeFirst()
      return result.numUpdatedRows > 0n
    },

    /** False if the lease had gone to somebody else before. */
    async release(database: Database, lock: Lock): Promise<boolean> {
      const result = await held(database, lock)
        .set({ lock_holder: null, lock_expires_at: null })
        .executeTakeFirst()
      return result.numUpdatedRows > 0n
    },

    /** For changes that need no lock of their own. Without an id no conversation at all may be locked. */
    async requireUnlocked(database: Database, conversationId?: string): Promise<void> {
      const conversations = await database
        .selectFrom('conversations')
        .select(['lock_holder', 'lock_expires_at'])
        .$if(conversationId !== undefined, query => query.where('id', '=', conversationId ?? ''))
        .execute()
      if (conversationId !== undefined && conversations.length === 0) throw notFound('Conversation')
      if (
        conversations.some(
          ({ lock_holder, lock_expires_at }) => lock_holder !== null && (lock_expires_at ?? '') > now(),
        )
      )
        throw conversationLocked()
    },
  }
}

export type ConversationLock = ReturnType<typeof createConversationLock>

function held(database: Database, { conversationId, token }: Lock) {
  return database
    .updateTable('conversations')
    .where('id', '=', conversationId)
    .where('lock_token', '=', token)
}

function conversationLocked(): AppError {
  return new AppError(
    'CONVERSATION_LOCKED',
    'This conversation is being processed. Wait for the answer, or abort it by closing its request.',
  )
}
