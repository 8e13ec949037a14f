import type { Kysely } from 'kysely'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { AppError, notFound } from '#platform/errors.ts'
import { waitingHolder } from '#storage/tables/chat.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { ConversationEnd, HeldLock, Lock, TurnMark } from '../rows/conversation-lock.repository.ts'
import { endLeases, listLocked, takeLock, updateHeld } from '../rows/conversation-lock.repository.ts'
import type { WaitingTurn } from '../rows/turns.repository.ts'
import { findWaiting } from '../rows/turns.repository.ts'

type Database = Kysely<AgentTables>

interface Acquiring {
  /** Time of a message that is stored together with the lock. */
  messageAt?: string
  /** A lock of this conversation, which the new one replaces. */
  held?: Lock | undefined
  /** The turn that it is taken for. */
  turn?: TurnMark
}

interface Dependencies {
  clock: Clock
  /** Names this process. */
  holder: string
  /** How long the lock outlives its holder, in milliseconds. */
  leaseMs: number
}

/** The lock of conversations: a lease with a fencing token, so that its holder's death frees it. */
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
     * For changes that need no lock of their own, in their transaction. Without an id, no conversation at all may be
     * locked. A holder whose lease has ended can write nothing more.
     */
    async requireUnlocked(transaction: Database, conversationId?: string): Promise<void> {
      await checkUnlocked(transaction, conversationId)
      await endLeases(transaction, conversationId)
    },

    /** How often a holder renews, in milliseconds: two renewals may fail before the lease ends. */
    renewalMs: leaseMs / 3,

    /** The lock that a new conversation is stored with. */
    first: (turn: TurnMark): HeldLock => ({ holder, token: 1, expiresAt: expiry(), turn }),

    /** Throws CONVERSATION_LOCKED while another holds it, NOT_FOUND without such a conversation. */
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

    /** False if the lease has gone to another request. */
    renew: (database: Database, lock: Lock, end?: ConversationEnd) =>
      updateHeld(database, lock, { holder, expiresAt: expiry() }, end),

    /** Nobody holds it then, and only who names it can take it. False if the lease had gone to another request before. */
    park: (database: Database, lock: Lock, end: ConversationEnd | undefined) =>
      updateHeld(database, lock, { holder: waitingHolder, expiresAt: '9999-12-31T23:59:59.999Z' }, end),

    /** Takes it from its holder for good, unless it had gone to another request before. */
    revoke: (database: Database, { conversationId, token }: Lock) =>
      endLeases(database, conversationId, token),

    /** False if the lease had gone to another request before. */
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
        ...{ tool, why, until },
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
