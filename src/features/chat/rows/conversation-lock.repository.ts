import type { Kysely } from 'kysely'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import { waitingHolder } from '#storage/tables/chat.ts'
import type { AgentTables } from '#storage/tables.ts'

type Database = Kysely<AgentTables>

/** The right to answer in a conversation, until it is released or not renewed in time. */
export interface Lock {
  conversationId: string
  /** Fencing token: a write with an older token than the conversation's has lost the right. */
  token: number
}

/** The turn that a conversation's lock is for. */
export interface TurnMark {
  id: string
  /** Identity of the caller who began it. */
  by: string
}

/** A lock as in the row of its conversation. */
export interface HeldLock {
  holder: string
  token: number
  expiresAt: string
  turn?: TurnMark
}

interface Taking extends Omit<HeldLock, 'token' | 'turn'> {
  now: string
  /** The time of a message that is added to the conversation together with the lock; undefined without one. */
  messageAt: string | undefined
  /** Token of the lock that the new lock replaces; undefined without one. */
  heldToken: number | undefined
  turn: TurnMark | undefined
}

/** The end of a conversation with a new answer: the question, and the answer as the only message after it. */
export interface ConversationEnd {
  questionSequence: number
  lastMessageAt: string
}

const take = prepareQuery(
  (
    database: Database,
    value: ValueOf<Exclude<keyof Taking, 'turn'> | 'added' | 'conversationId' | 'turnId' | 'turnBy'>,
  ) =>
    database
      .updateTable('conversations')
      .set(({ eb, fn }) => ({
        lock_holder: value('holder'),
        lock_token: eb('lock_token', '+', 1),
        lock_expires_at: value('expiresAt'),
        turn_id: value('turnId'),
        turn_by: value('turnBy'),
        turn_since: value('now'),
        message_count: eb('message_count', '+', value<number>('added')),
        last_message_at: fn.coalesce(eb.val(value('messageAt')), 'last_message_at'),
      }))
      .where('id', '=', value('conversationId'))
      .where(({ eb, or }) =>
        or([
          eb('lock_holder', 'is', null),
          eb('lock_expires_at', '<=', value('now')),
          eb('lock_token', '=', value<number>('heldToken')),
        ]),
      )
      .returning('lock_token'),
)

/** Returns undefined, and changes nothing, while another process holds the lock or if there is no such conversation. */
export async function takeLock(
  database: Database,
  conversationId: string,
  { turn, ...taking }: Taking,
): Promise<Lock | undefined> {
  const added = taking.messageAt === undefined ? 0 : 1
  const [locked] = await take(database, {
    ...taking,
    heldToken: taking.heldToken ?? null,
    turnId: turn?.id ?? null,
    turnBy: turn?.by ?? null,
    added,
    conversationId,
  })
  return locked && { conversationId, token: locked.lock_token }
}

type HeldValues = 'holder' | 'expiresAt' | 'conversationId' | 'token'

function updateLock(database: Database, value: ValueOf<HeldValues>) {
  return database
    .updateTable('conversations')
    .set({ lock_holder: value('holder'), lock_expires_at: value('expiresAt') })
    .where('id', '=', value('conversationId'))
    .where('lock_token', '=', value<number>('token'))
    .returning('id')
}

const update = prepareQuery((database: Database, value: ValueOf<HeldValues>) => updateLock(database, value))

const updateWithEnd = prepareQuery((database: Database, value: ValueOf<HeldValues | keyof ConversationEnd>) =>
  updateLock(database, value).set(({ selectFrom }) => ({
    message_count: selectFrom('messages')
      .select(({ eb, fn }) => eb(fn.countAll<number>(), '+', 1).as('count'))
      .where('messages.conversation_id', '=', value('conversationId'))
      .where('messages.sequence', '<=', value<number>('questionSequence')),
    last_message_at: value('lastMessageAt'),
  })),
)

/**
 * Renews a lock, or releases it with null, and records the new end of the conversation; returns false if another request has
 * the lease.
 */
export async function updateHeld(
  database: Database,
  lock: Lock,
  lease: { holder: string | null; expiresAt: string | null },
  end: ConversationEnd | undefined,
): Promise<boolean> {
  const values = { ...lock, ...lease }
  const updated = await (end === undefined
    ? update(database, values)
    : updateWithEnd(database, { ...values, ...end }))
  return updated.length > 0
}

/** Revokes locks whose lease has ended: later writes of their holders have an outdated token. */
export async function endLeases(database: Database, conversationId?: string, token?: number): Promise<void> {
  await database
    .updateTable('conversations')
    .set(({ eb }) => ({ lock_holder: null, lock_expires_at: null, lock_token: eb('lock_token', '+', 1) }))
    .where('lock_holder', 'is not', null)
    .$if(conversationId !== undefined, query => query.where('id', '=', conversationId ?? ''))
    .$if(token !== undefined, query => query.where('lock_token', '=', token ?? 0))
    .execute()
}

/** Returns whether each conversation, or one, is locked. */
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

/** True if no process runs the turn that had the lock last. @param now ISO 8601 */
export async function isAtRest(
  database: Database,
  { conversationId, token }: Lock,
  now: string,
): Promise<boolean> {
  const resting = database
    .selectFrom('conversations')
    .select('id')
    .where('id', '=', conversationId)
    .where('lock_token', '=', token)
    .where(({ eb, or }) =>
      or([
        eb('lock_holder', 'is', null),
        eb('lock_holder', '=', waitingHolder),
        eb('lock_expires_at', '<=', now),
      ]),
    )
  return (await resting.executeTakeFirst()) !== undefined
}
