import type { Kysely } from 'kysely'
import { type Clock, timestamp } from '#platform/clock.ts'
import { AppError, notFound } from '#platform/errors.ts'
import { waitingHolder } from '#storage/tables/chat.ts'
import type { AgentTables } from '#storage/tables.ts'
import {
  type ConversationEnd,
  endLeases,
  type HeldLock,
  type Lock,
  listLocked,
  type TurnMark,
  takeLock,
  updateHeld,
} from '../rows/conversation-lock.repository.ts'
import { findWaiting, type WaitingTurn } from '../rows/turns.repository.ts'

type Database = Kysely<AgentTables>

interface Acquiring {
  /** Time of a message that is stored together with the lock. */
  messageAt?: string
  /** A lock of this conversation, which the new lock replaces. */
  held?: Lock | undefined
  /** The turn that the lock is for. */
  turn?: TurnMark
}

interface Dependencies {
  clock: Clock
  /** Name of this process. */
  holder: string
  /** Time until the lock of a dead holder ends, in milliseconds. */
  leaseMs: number
}

/** Locks conversations: a lease with a fencing token, so that its holder's death frees it. */
export function createConversationLock({ clock, holder, leaseMs }: Dependencies) {
  const expiry = () => new Date(clock.now() + leaseMs).toISOString()

  async function checkUnlocked(database: Database, conversationId?: string): Promise<void> {
    const conversations = await listLocked(database, timestamp(clock), conversationId)
    if (conversationId !== undefined && conversations.length === 0) throw notFound('Conversation')
    if (!conversations.includes(true)) return
    const waiting = conversationId && (await findWaiting(database, conversationId))
    throw waiting ? conversationWaiting(waiting) : conversationLocked()
  }

  return {
    /**
     * Checks the lock in transactions of changes that need none of their own. Without an id, no conversation at all may be
     * locked. A holder whose lease has ended can no longer write.
     */
    async requireUnlocked(transaction: Database, conversationId?: string): Promise<void> {
      await checkUnlocked(transaction, conversationId)
      await endLeases(transaction, conversationId)
    },

    /** Interval at which a holder renews, in milliseconds: two renewals can fail before the lease ends. */
    renewalMs: leaseMs / 3,

    /** Returns the lock that a new conversation is stored with. */
    first: (turn: TurnMark): HeldLock => ({ holder, token: 1, expiresAt: expiry(), turn }),

    /** Throws CONVERSATION_LOCKED while another process holds the lock, NOT_FOUND without such a conversation. */
    async acquire(
      database: Database,
      conversationId: string,
      { messageAt, held, turn }: Acquiring = {},
    ): Promise<Lock> {
      const lease = { holder, now: timestamp(clock), expiresAt: expiry() }
      const heldToken = held?.token
      const lock = await takeLock(database, conversationId, { ...lease, messageAt, heldToken, turn })
      if (lock !== undefined) return lock
      await checkUnlocked(database, conversationId)
      throw conversationLocked()
    },

    /** Returns false if another request has the lease. */
    renew: (database: Database, lock: Lock, end?: ConversationEnd) =>
      updateHeld(database, lock, { holder, expiresAt: expiry() }, end),

    /** Parks the lock: no process holds it; only its token acquires it. Returns false if another request had the lease before. */
    park: (database: Database, lock: Lock, end: ConversationEnd | undefined) =>
      updateHeld(database, lock, { holder: waitingHolder, expiresAt: '9999-12-31T23:59:59.999Z' }, end),

    /** Revokes the lock finally, unless another request had it before. */
    revoke: (database: Database, { conversationId, token }: Lock) =>
      endLeases(database, conversationId, token),

    /** Returns false if another request had the lease before. */
    release: (database: Database, lock: Lock, end?: ConversationEnd) =>
      updateHeld(database, lock, { holder: null, expiresAt: null }, end),
  }
}

export type ConversationLock = ReturnType<typeof createConversationLock>

function conversationWaiting({ id, waiting }: WaitingTurn): AppError {
  const { approval_id, session_id, tool, why, until } = waiting
  const what =
    session_id === undefined
      ? `for a decision on a call of ${tool}. Decide on it at chat/approvals/${approval_id}`
      : `for a person who takes over its browser session. Hand it back at browser/${session_id}/takeover/end`
  return new AppError(
    'CONVERSATION_WAITING',
    `This conversation waits until ${until} ${what}, or send the message with \`cancel_waiting: true\`, which refuses the call.`,
    {
      details: {
        turn_id: id,
        ...(session_id === undefined ? { approval_id } : { session_id }),
        tool,
        why,
        until,
      },
    },
  )
}

export function conversationLocked(): AppError {
  return new AppError(
    'CONVERSATION_LOCKED',
    'This conversation is being processed. Wait for the answer, or stop its turn.',
  )
}
