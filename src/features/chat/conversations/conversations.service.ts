import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { AppError, notFound } from '#platform/errors.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Conversation, ConversationListQuery, MessageListQuery } from '../chat.schema.ts'
import type { Reach } from '../reach.ts'
import {
  conversationIds,
  countDown,
  deleteConversation,
  findConversation,
  hasConversation,
  listConversations,
  putTitle,
  refreshActivity,
} from '../rows/conversations.repository.ts'
import {
  countMessages,
  deleteMessage,
  deleteOldest,
  findMessage,
  putMessage,
  readWindow,
  type StoredMessage,
  toPublic,
} from '../rows/messages.repository.ts'
import { readBounded } from './bounded-window.ts'
import type { ConversationLock } from './conversation-lock.ts'
import type { SlowLists } from './message-list.ts'
import { removeFilesOf } from './unused-files.ts'

type Database = Kysely<AgentTables>

const defaultWindow = 50
/** Max characters of messages on one page, tool results included; the last message can exceed it. */
const pageCharacters = 1_000_000

interface Dependencies {
  lock: ConversationLock
  slowLists: SlowLists
  transact: Transact
}

/** Reads and changes conversations and their messages; answering is in answering/. */
export function createConversationsService({ lock, slowLists, transact }: Dependencies) {
  /**
   * Deletes the messages of a conversation in batches, oldest first, so that other requests wait briefly; returns their number.
   * Ends with CONVERSATION_LOCKED once another request answers in the conversation.
   */
  async function empty(agent: AgentHandle, conversationId: string): Promise<number> {
    for (let deleted = 0; ; await yieldToOthers()) {
      const portion = await transact(agent, async (transaction, outbox) => {
        if (!(await hasConversation(transaction, conversationId, 'all'))) return 0
        await lock.requireUnlocked(transaction, conversationId)
        const portion = await deleteOldest(transaction, conversationId)
        if (portion > 0) await countDown(transaction, conversationId, portion)
        else {
          await refreshActivity(transaction, conversationId)
          await removeFilesOf(transaction, outbox, [conversationId])
        }
        return portion
      })
      if (portion === 0) return deleted
      deleted += portion
    }
  }

  async function clear(agent: AgentHandle, conversationId: string | undefined): Promise<number> {
    await inTransaction(agent.db, transaction => lock.requireUnlocked(transaction, conversationId))
    let deleted = 0
    for (const id of conversationId === undefined ? await conversationIds(agent.db) : [conversationId])
      deleted += await empty(agent, id)
    return deleted
  }

  return {
    list({ db, path: databasePath, signal }: AgentHandle, query: ConversationListQuery, reach: Reach) {
      if (!query.search) return listConversations(db, query, reach)
      return slowLists.conversations({ databasePath, query, reach }, signal)
    },

    has: hasConversation,

    find,

    update,

    /** Deletes the conversation with its messages; returns the number of messages. */
    async remove(agent: AgentHandle, conversationId: string): Promise<number> {
      const deleted = await clear(agent, conversationId)
      await inTransaction(agent.db, async transaction => {
        await lock.requireUnlocked(transaction, conversationId)
        await deleteConversation(transaction, conversationId)
      })
      return deleted
    },

    /** Deletes the messages of one conversation, or of all; the conversations remain. */
    clear,

    /** @param isStoredAgain true to keep its files for a message that is stored under the same id next. */
    removeMessage(agent: AgentHandle, messageId: string, isStoredAgain = false): Promise<void> {
      return transact(agent, async (transaction, outbox) => {
        const message = await findMessage(transaction, messageId)
        if (message === undefined) throw notFound('Message')
        await lock.requireUnlocked(transaction, message.conversationId)
        if (message.role === 'user') await markAnswerTo(transaction, message)
        await deleteMessage(transaction, messageId)
        await refreshActivity(transaction, message.conversationId)
        if (!isStoredAgain) await removeFilesOf(transaction, outbox, [message.conversationId])
      })
    },

    /** Changes a message to its author's new text, in the caller's transaction. @param edited ISO 8601 */
    async editMessage(transaction: Database, id: string, content: string, edited: string): Promise<void> {
      const message = await findMessage(transaction, id)
      if (message === undefined || message.content === content) return
      await putMessage(transaction, {
        ...toPublic(message),
        content,
        metadata: { ...message.metadata, edited },
      })
    },

    /** Returns messages oldest first: the newest ones, those around `before` or `after`, or a page of the generic list. */
    async messages({ db: database, path, signal }: AgentHandle, query: MessageListQuery, reach: Reach) {
      const { conversationId } = query
      if (conversationId !== undefined && !(await hasConversation(database, conversationId, reach)))
        throw notFound('Conversation')
      if (isGenericList(query)) {
        const { rows, meta } = await slowLists.messages({ databasePath: path, query, reach }, signal)
        return { rows: rows.map(toPublic), meta: { ...meta, hasMore: meta.has_more } }
      }
      return readMessages(database, query, reach)
    },
  }
}

export type ConversationsService = ReturnType<typeof createConversationsService>

async function find(database: Database, id: string, reach: Reach): Promise<Conversation> {
  const conversation = await findConversation(database, id, reach)
  if (conversation === undefined) throw notFound('Conversation')
  return conversation
}

/** Updates also a locked conversation: an answer does not change its title. */
function update(
  database: Database,
  id: string,
  { title }: { title?: string },
  reach: Reach,
): Promise<Conversation> {
  return inTransaction(database, async transaction => {
    const conversation = await find(transaction, id, reach)
    if (title === undefined) return conversation
    await putTitle(transaction, id, { title })
    return { ...conversation, title }
  })
}

/** Returns true for a query with parameters of the generic list alone; `before` and `after` then have no meaning. */
function isGenericList(query: MessageListQuery): boolean {
  const { offset, sort, order, search, from, to, cursor, created_by, rating } = query
  const isGeneric = [offset, sort, order, search, from, to, cursor, created_by, rating].some(
    parameter => parameter !== undefined,
  )
  const isWindow = query.before !== undefined || query.after !== undefined
  if (isGeneric && isWindow)
    throw new AppError(
      'VALIDATION_ERROR',
      'before and after can be combined with conversationId and limit only.',
    )
  return isGeneric
}

async function readMessages(database: Database, query: MessageListQuery, reach: Reach) {
  const { conversationId, limit = defaultWindow } = query
  const [before, after] = await Promise.all([
    placeOf(database, query.before, conversationId, reach),
    placeOf(database, query.after, conversationId, reach),
  ])
  const end = after === undefined ? ('newest' as const) : ('oldest' as const)
  const bounds = { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }
  // One more than the limit shows if there are more in that direction.
  const window = { conversationId, ...bounds, end, limit: limit + 1, reach }
  const { messages, isCut } = await readBounded(database, window, { characters: pageCharacters })
  const isMore = messages.length > limit
  const kept = isMore ? (end === 'newest' ? messages.slice(1) : messages.slice(0, limit)) : messages
  const total = await countMessages(database, conversationId, reach)
  const hasMore = isMore || isCut
  return { rows: kept.map(toPublic), meta: { total, limit, offset: 0, has_more: hasMore, hasMore } }
}

/** Returns the place of a message; one of another conversation counts as missing. */
async function placeOf(
  database: Database,
  messageId: string | undefined,
  conversationId: string | undefined,
  reach: Reach,
) {
  if (messageId === undefined) return undefined
  const message = await findMessage(database, messageId, reach)
  if (message === undefined || (conversationId ?? message.conversationId) !== message.conversationId)
    throw notFound('Message')
  return message.sequence
}

/** Marks the answer to a deleted question, which could seem to answer the question before. */
async function markAnswerTo(database: Database, { conversationId, sequence }: StoredMessage): Promise<void> {
  const [next] = await readWindow(database, { conversationId, after: sequence, end: 'oldest', limit: 1 })
  if (next?.role !== 'assistant') return
  await putMessage(database, toPublic({ ...next, metadata: { ...next.metadata, questionDeleted: true } }))
}
