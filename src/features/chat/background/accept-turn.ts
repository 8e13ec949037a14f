import type { Kysely } from 'kysely'
import { type Actor, currentActor } from '#platform/actor.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import { conflict } from '#platform/errors.ts'
import type { Ids } from '#platform/ids.ts'
import type { Outbox, Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Draft } from '../answering/draft.ts'
import { type QuestionInput, titleOf, userMessage } from '../answering/questions.ts'
import type { ChatEvents } from '../chat.events.ts'
import type { ChatMessage, TurnOptions } from '../chat.schema.ts'
import { type ConversationLock, conversationLocked } from '../conversations/conversation-lock.ts'
import type { ConversationStarts } from '../conversations/conversation-starts.ts'
import type { Asker } from '../reach.ts'
import { isAtRest, listLocked } from '../rows/conversation-lock.repository.ts'
import { hasConversation } from '../rows/conversations.repository.ts'
import { findMessage, toPublic } from '../rows/messages.repository.ts'
import {
  findByClientId,
  findStanding,
  findTurn,
  findWaiting,
  insertTurn,
  openTurns,
  type TurnRow,
} from '../rows/turns.repository.ts'
import { endTurn } from '../waiting/end-turn.ts'
import { turnJobKey, turnJobName } from '../waiting/stored-turn.ts'
import type { WaitingTurns } from '../waiting/waiting.service.ts'

/** Max queued messages in a conversation. */
const maxQueued = 20

export interface BackgroundOptions {
  clientMessageId?: string
  on_busy?: 'reject' | 'queue'
}

/** The subject of a turn as in its row: a new message, or a stored one. */
export interface StoredQuestion {
  message: ChatMessage
  isNew: boolean
  /** The title of the turn's new conversation. */
  title?: string
  options: QuestionInput & TurnOptions
  asker: Asker
  actor: Actor | undefined
}

/** A turn that was accepted, now or by an earlier request. */
export interface AcceptedTurn {
  row: Pick<TurnRow, 'id' | 'status' | 'conversation_id'>
  userMessage: ChatMessage
  evictedConversationId?: string | undefined
}

interface Dependencies {
  waiting: Pick<WaitingTurns, 'end'>
  lock: Pick<ConversationLock, 'requireUnlocked'>
  starts: Pick<ConversationStarts, 'prepare'>
  transact: Transact<ChatEvents>
  clock: Clock
  ids: Ids
}

/** Accepts questions whose turns outlive their requests: each is a job, and the message is stored when its turn begins. */
export function createBackgroundTurns({ waiting, lock, starts, transact, clock, ids }: Dependencies) {
  async function accept(
    agent: AgentHandle,
    drafting: Promise<Draft>,
    asker: Asker,
    options: QuestionInput & TurnOptions & BackgroundOptions,
  ): Promise<AcceptedTurn> {
    await using draft = await drafting
    const { clientMessageId, on_busy, ...input } = options
    const { author } = asker
    return await transact(agent, async (transaction, outbox: Outbox<ChatEvents>) => {
      const known = await joined(transaction, asker, clientMessageId, input)
      if (known !== undefined) return known
      const { conversationId: current, question, attachments = [] } = await draft.find(transaction)
      const at = timestamp(clock)
      const { content = '' } = input
      const title = titleOf(content || attachments[0]?.name || '')
      if (current !== undefined) {
        await draft.endWait(transaction, outbox, current)
        await requireDecided(lock, transaction, current, on_busy)
        await requirePlace(transaction, current, on_busy, at)
      }
      const begun = { id: ids.record(), title, created_by: author, createdAt: at }
      const owner = { agentId: agent.agentId, settings: draft.settings }
      const evicted = current === undefined ? await starts.prepare(transaction, outbox, begun, owner) : {}
      const conversation_id = current ?? begun.id
      const said = { ...userMessage(ids.record(), conversation_id, content, at), created_by: author }
      const message = question === undefined ? said : toPublic(question)
      const stored: StoredQuestion = {
        ...{ message, isNew: question === undefined, asker, actor: currentActor.getStore() },
        ...(current === undefined && { title }),
        options: { ...input, conversationId: conversation_id },
      }
      const row = {
        ...{ id: ids.record(), conversation_id, started_by: author, status: 'queued' },
        ...{ client_message_id: clientMessageId ?? null, question: JSON.stringify(stored) },
        ...{ lock_token: null, run: 0, state: null, waiting: null },
        ...{ created_at: at, started_at: null, ended_at: null },
      }
      await insertTurn(transaction, row)
      await outbox.add({ name: turnJobName, payload: row.id, key: turnJobKey(row.id) })
      return { row, userMessage: message, ...evicted }
    })
  }

  return {
    accept,

    /** Ends a turn that waits for a person, or has not continued after the decision; returns false for other turns. */
    endWait: async (agent: AgentHandle, turnId: string): Promise<boolean> =>
      Boolean((await findStanding(agent.db, turnId))?.waiting) &&
      transact(agent, async (transaction, outbox) => {
        const row = await findTurn(transaction, turnId)
        const lock = { conversationId: row?.conversation_id ?? '', token: row?.lock_token ?? 0 }
        if (row === undefined || !(await isAtRest(transaction, lock, timestamp(clock)))) return false
        return await waiting.end({ transaction, outbox }, row, 'stopped')
      }),

    /** Ends a turn that has not begun; returns false if it has. */
    withdraw: (agent: AgentHandle, turnId: string): Promise<boolean> =>
      transact(agent, async (transaction, outbox) => {
        const row = await findTurn(transaction, turnId)
        if (row?.status !== 'queued') return false
        const { options } = JSON.parse(row.question) as StoredQuestion
        const message = 'The message was withdrawn: its turn was stopped before it had begun.'
        const events = [{ type: 'error', message, code: 'CONFLICT' }] as const
        // The turn's job can have begun it meanwhile.
        const end = { from: ['queued'], unsent: options.attachments, events } as const
        if (!(await endTurn({ transaction, outbox, clock }, row, end))) return false
        await outbox.cancel(turnJobKey(turnId))
        return true
      }),
  }
}

export type BackgroundTurns = ReturnType<typeof createBackgroundTurns>

/** Throws CONVERSATION_WAITING, unless the message can queue. */
async function requireDecided(
  lock: Pick<ConversationLock, 'requireUnlocked'>,
  transaction: Kysely<AgentTables>,
  conversationId: string,
  onBusy: BackgroundOptions['on_busy'],
): Promise<void> {
  if (onBusy === 'queue' || (await findWaiting(transaction, conversationId)) === undefined) return
  await lock.requireUnlocked(transaction, conversationId)
}

/** Throws CONVERSATION_LOCKED, or CONFLICT if too many messages wait. */
async function requirePlace(
  transaction: Kysely<AgentTables>,
  conversationId: string,
  onBusy: BackgroundOptions['on_busy'],
  now: string,
): Promise<void> {
  const open = await openTurns(transaction, conversationId)
  const [isLocked] = await listLocked(transaction, now, conversationId)
  if (onBusy !== 'queue' && (isLocked || open.length > 0)) throw conversationLocked()
  if (open.filter(({ status }) => status === 'queued').length >= maxQueued)
    throw conflict(
      `${maxQueued} messages wait in this conversation already. Send more once they are answered.`,
    )
}

/** Returns the turn that the same message has begun before. Throws CONFLICT for another message. */
async function joined(
  database: Kysely<AgentTables>,
  { author, reach }: Asker,
  clientId: string | undefined,
  { content, conversationId }: QuestionInput,
) {
  const row = clientId === undefined ? undefined : await findByClientId(database, author, clientId)
  if (row === undefined) return undefined
  const { message } = JSON.parse(row.question) as StoredQuestion
  const stored = await findMessage(database, message.id)
  if (stored === undefined && row.ended_at !== null)
    throw conflict(
      'This message was sent before, and was withdrawn or deleted since. Send it with another clientMessageId.',
    )
  const known = stored === undefined ? message : toPublic(stored)
  const isSame =
    (content === undefined || content === known.content || known.metadata?.edited !== undefined) &&
    (conversationId === undefined || conversationId === row.conversation_id) &&
    (await hasConversation(database, row.conversation_id, reach))
  if (!isSame)
    throw conflict('Another message was sent with this clientMessageId. Give each message its own.')
  return { row, userMessage: known }
}
