import type { Kysely } from 'kysely'
import { type Clock, timestamp } from '#platform/clock.ts'
import { type AppError, conflict, notFound } from '#platform/errors.ts'
import type { Ids } from '#platform/ids.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import type { AgentDatabases } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import { type ChatEvents, originOf } from '../chat.events.ts'
import type { NewMessage, TurnOptions } from '../chat.schema.ts'
import type { ConversationLock } from '../conversations/conversation-lock.ts'
import type { ConversationStarts } from '../conversations/conversation-starts.ts'
import type { ChatFiles } from '../files/chat-files.service.ts'
import type { Asker } from '../reach.ts'
import { hasConversation } from '../rows/conversations.repository.ts'
import { findMessage, insertMessage, readWindow, type StoredMessage } from '../rows/messages.repository.ts'
import { cutEnd } from '../turn/truncate-result.ts'
import type { WaitingTurns } from '../waiting/waiting.service.ts'
import { createDrafts, type Draft } from './draft.ts'
import type { TurnPlanner } from './planning/plan.ts'
import type { Question } from './question.ts'

const titleCharacters = 80

export interface QuestionInput extends NewMessage {
  /** An unused id; defaults to a new one. */
  id?: string
  /** If `conversationId` names no conversation: the id of the one to continue, or to begin under this id. */
  standingConversationId?: string
  instructions?: string
  /** The time of sending; defaults to now. */
  sentAt?: string
}

interface Dependencies {
  waiting: Pick<WaitingTurns, 'endIn'>
  agentDatabases: AgentDatabases
  planner: TurnPlanner
  starts: ConversationStarts
  lock: ConversationLock
  files: Pick<ChatFiles, 'forMessage' | 'attach'>
  transact: Transact<ChatEvents>
  clock: Clock
  ids: Ids
}

/** Checks questions, stores them and locks their conversations, so that they can be answered. */
export function createQuestions(needs: Dependencies) {
  const { starts, lock, files, clock, ids } = needs
  const draft = createDrafts(needs)

  /** Drafts a user's new message, in its conversation or a new one. @param refusal the reason why its turn must fail, if any */
  function draftNew(agentId: string, input: QuestionInput, asker: Asker, refusal?: AppError): Promise<Draft> {
    const { content = '', standingConversationId } = input
    const { channel, contactId, author, isOutsider } = asker
    return draft({
      ...{ agentId, asker, options: input, refusal },
      find: async transaction => ({
        conversationId: await currentConversation(transaction, input, asker),
        attachments: await files.forMessage(transaction, input, asker),
      }),
      async store(transaction, outbox, { conversationId: current, attachments }, { held, settings, turn }) {
        const createdAt = timestamp(clock)
        const begun = {
          id: standingConversationId,
          title: titleOf(content || attachments[0]?.name || ''),
          channel,
          author,
          at: createdAt,
          turn,
        }
        const started =
          current === undefined
            ? await starts.begin(transaction, outbox, { ...begun, agentId, settings })
            : { lock: await lock.acquire(transaction, current, { messageAt: createdAt, held, turn }) }
        const { conversationId } = started.lock
        const said = userMessage(input.id ?? ids.record(), conversationId, content, createdAt)
        const metadata = {
          ...(isOutsider && { tainted: true }),
          ...(attachments.length > 0 && { attachments }),
        }
        const message = {
          ...said,
          created_by: author,
          ...(Object.keys(metadata).length > 0 && { metadata }),
        }
        const sequence = await insertMessage(transaction, message)
        await files.attach(transaction, outbox, attachments, { conversationId, messageId: message.id })
        const own = { agent_id: agentId, message_id: message.id, conversation_id: conversationId }
        const received = { ...own, created_at: createdAt, ...originOf({ channel, contactId }) }
        await outbox.emit('message.received', received)
        const isFirst = current === undefined
        const title = isFirst ? { former: begun.title, model: settings.title_model } : undefined
        return { ...started, userMessage: { ...message, sequence }, isNew: true, isFirst, title }
      },
    })
  }

  /** Drafts a repeated answer to the question that a message is or answers. A new answer replaces the old one. */
  function draftAgain(
    agentId: string,
    messageId: string,
    options: TurnOptions,
    asker: Asker,
  ): Promise<Draft> {
    return draft({
      ...{ agentId, asker, options: { autoRag: true, ...options } },
      async find(transaction) {
        const message = await findMessage(transaction, messageId, asker.reach)
        if (message === undefined) throw notFound('Message')
        return placeOf(await questionOf(transaction, message))
      },
      store: async (transaction, _outbox, { question }, { held, turn }) => ({
        lock: await lock.acquire(transaction, question.conversationId, { held, turn }),
        userMessage: question,
      }),
    })
  }

  return {
    draftNew,
    draftAgain,
    /** Accepts a new message at once. */
    accept: (...question: Parameters<typeof draftNew>) => accepted(draftNew(...question)),
    /** Accepts a stored question again, at once. */
    acceptAgain: (...question: Parameters<typeof draftAgain>) => accepted(draftAgain(...question)),
  }
}

export type Questions = ReturnType<typeof createQuestions>

async function accepted(drafting: Promise<Draft>): Promise<Question> {
  await using draft = await drafting
  return await draft.accept()
}

/** Returns the question right before an answer, if it was not deleted: an earlier one can have an answer that must stay. */
async function questionOf(database: Kysely<AgentTables>, message: StoredMessage): Promise<StoredMessage> {
  if (message.role === 'user') return message
  const { conversationId, sequence, metadata } = message
  const [before] = await readWindow(database, { conversationId, before: sequence, end: 'newest', limit: 1 })
  if (before?.role !== 'user' || metadata?.questionDeleted === true)
    throw conflict('The message that this answered was deleted, so that there is nothing to answer.')
  return before
}

function placeOf(question: StoredMessage) {
  return { conversationId: question.conversationId, question }
}

export function userMessage(id: string, conversationId: string, content: string, createdAt: string) {
  return { id, role: 'user' as const, content, conversationId, toolCalls: null, toolResults: null, createdAt }
}

/** Returns the first line of a conversation's first message, cut at a word. */
export function titleOf(content: string): string {
  const line = content.trim().split(/\r?\n/)[0] ?? ''
  if (line.length <= titleCharacters) return line
  return `${cutEnd(line, titleCharacters).replace(/\s+\S*$/, '')}…`
}

/** Returns the conversation that a message continues; undefined if it begins a new one. */
async function currentConversation(
  transaction: Kysely<AgentTables>,
  { conversationId, standingConversationId: standing }: QuestionInput,
  { reach }: Asker,
) {
  if (conversationId !== undefined && !(await hasConversation(transaction, conversationId, reach)))
    throw notFound('Conversation')
  if (conversationId !== undefined || standing === undefined) return conversationId
  return (await hasConversation(transaction, standing, 'all')) ? standing : undefined
}
