import type { Kysely } from 'kysely'
import type { ValueOf } from '#platform/prepared-query.ts'
import { prepareQuery } from '#platform/prepared-query.ts'
import { waitingHolder } from '#storage/tables/chat.ts'
import type { AgentTables } from '#storage/tables.ts'

type Database = Kysely<AgentTables>

/** The right to answer in a conversation, until it is released or was not renewed in time. */
export interface Lock {
  conversationId: string
  /** Fencing token: a write that names an older one than the conversation's has lost the right. */
  token: number
}

/** A turn of a conversation, for which its lock is taken. */
export interface TurnMark {
  id: string
  /** Identity of the caller who began it. */
  by: string
}

/** A lock as the row of its conversation has it. */
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
  /** Token of the lock that this one replaces; undefined without one. */
  heldToken: number | undefined
  turn: TurnMark | undefined
}

/** How a conversation ends once an answer is written: with the question, and the answer as the only message after it. */
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

/** Undefined, and nothing is changed, while another holds it or if there is no such conversation. */
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
 * Renews a lock, or releases it with null, and records the new end of the conversation; false if the lease has passed to
 * another request.
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

/** Takes the lock for good from holders whose lease has ended: their later writes name a token that is too old. */
export async function endLeases(database: Database, conversationId?: string, token?: number): Promise<void> {
  await database
    .updateTable('conversations')
    .set(({ eb }) => ({ lock_holder: null, lock_expires_at: null, lock_token: eb('lock_token', '+', 1) }))
    .where('lock_holder', 'is not', null)
    .$if(conversationId !== undefined, query => query.where('id', '=', conversationId ?? ''))
    .$if(token !== undefined, query => query.where('lock_token', '=', token ?? 0))
    .execute()
}

/** For each conversation, or for one, whether it is locked. */
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

/** Whether the turn that had the lock last is at work in no process. @param now ISO 8601 */
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
