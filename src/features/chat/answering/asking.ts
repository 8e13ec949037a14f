import type { Kysely } from 'kysely'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { conflict, notFound } from '#platform/errors.ts'
import type { Ids } from '#platform/ids.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import type { AgentDatabases, AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { ChatEvents } from '../chat.events.ts'
import type { NewMessage, TurnOptions } from '../chat.schema.ts'
import type { ConversationLock } from '../conversation-lock.ts'
import { hasConversation } from '../conversations.repository.ts'
import type { ConversationsService } from '../conversations.service.ts'
import type { StoredMessage } from '../messages.repository.ts'
import { findMessage, insertMessage, readWindow } from '../messages.repository.ts'
import { cutEnd } from '../turn/truncate-result.ts'
import { createPaidQuestions } from './paid-questions.ts'
import type { Question } from './question.ts'
import type { Asker, TurnPlan, TurnPlanner } from './turn-planner.ts'

const titleCharacters = 80

export interface AskedMessage extends NewMessage {
  /** One that no message has; a fresh one unless given. */
  id?: string
  /** The conversation to go on with, or to begin under this id, if `conversationId` names none. */
  standingConversationId?: string
  instructions?: string
}

export interface AskingDependencies {
  agentDatabases: AgentDatabases
  planner: TurnPlanner
  conversations: ConversationsService
  lock: ConversationLock
  transact: Transact<ChatEvents>
  clock: Clock
  ids: Ids
}

/** Accepts questions: checks them, stores them and locks their conversation, so that they can be answered. */
export function createAsking(needs: AskingDependencies) {
  const { agentDatabases, planner, conversations, lock, transact, clock, ids } = needs
  const { paid, handOver } = createPaidQuestions({ transact, lock })

  /** The agent stays acquired for the question; if it is not accepted, it is released at once. */
  async function withAgent(
    agentId: string,
    accept: (agent: AgentHandle) => Promise<Question>,
  ): Promise<Question> {
    const agent = await agentDatabases.acquire(agentId)
    try {
      return await accept(agent)
    } catch (error) {
      agent.release()
      throw error
    }
  }

  return {
    /** A new message of a user, in its conversation or a new one. */
    ask(agentId: string, input: AskedMessage, asker: Asker): Promise<Question> {
      return withAgent(agentId, async agent => {
        const plan = await planner.plan(agentId, { ...input, ...asker })
        const held = await paid(agent, asker, transaction => currentConversation(transaction, input, asker))
        const accepted = await transact(agent, async (transaction, outbox) => {
          await handOver(transaction, held)
          const createdAt = timestamp(clock)
          const current = await currentConversation(transaction, input, asker)
          const { content, standingConversationId } = input
          const { channel, contactId, author } = asker
          const title = titleOf(content)
          const beginning = { id: standingConversationId, title, channel, author, at: createdAt }
          const locked =
            current === undefined
              ? await conversations.begin(transaction, beginning)
              : await lock.acquire(transaction, current, createdAt)
          const { conversationId } = locked
          const said = userMessage(input.id ?? ids.record(), conversationId, content, createdAt)
          const message = asker.isOutsider ? { ...said, metadata: { tainted: true } } : said
          const sequence = await insertMessage(transaction, message)
          const where = { conversationId, channel, contactId }
          await outbox.emit('message.received', { agentId, messageId: message.id, createdAt, ...where })
          const isFirst = current === undefined
          return { lock: locked, userMessage: { ...message, sequence }, asker, isNew: true, isFirst }
        })
        return question(agent, plan, accepted)
      })
    },

    /** The question that a message answers, or is, to be answered anew. The old answer goes once there is a new one. */
    askAgain(agentId: string, messageId: string, options: TurnOptions, asker: Asker): Promise<Question> {
      return withAgent(agentId, async agent => {
        const plan = await planner.plan(agentId, { ...options, ...asker, autoRag: true })
        const find = async (transaction: Kysely<AgentTables>) => {
          const message = await findMessage(transaction, messageId)
          if (message === undefined || !(await isReached(transaction, message.conversationId, asker)))
            throw notFound('Message')
          return await questionOf(transaction, message)
        }
        const held = await paid(agent, asker, async transaction => (await find(transaction)).conversationId)
        const accepted = await transact(agent, async transaction => {
          await handOver(transaction, held)
          const userMessage = await find(transaction)
          return { lock: await lock.acquire(transaction, userMessage.conversationId), userMessage, asker }
        })
        return question(agent, plan, accepted)
      })
    },
  }
}

function question(
  agent: AgentHandle,
  plan: TurnPlan,
  {
    isFirst = false,
    ...accepted
  }: Pick<Question, 'lock' | 'userMessage' | 'isNew' | 'asker'> & { isFirst?: boolean },
): Question {
  const asked = { agent, userMessage: accepted.userMessage, isFirst }
  return {
    agent,
    ...accepted,
    model: plan.model,
    turn: (emit, signal) => plan.run(asked, emit, signal),
  }
}

/** An answer's question stands right before it, or was deleted: an earlier one may have an answer of its own, which must stay. */
async function questionOf(database: Kysely<AgentTables>, message: StoredMessage): Promise<StoredMessage> {
  if (message.role === 'user') return message
  const { conversationId, sequence, metadata } = message
  const [before] = await readWindow(database, { conversationId, before: sequence, end: 'newest', limit: 1 })
  if (before?.role !== 'user' || metadata?.questionDeleted === true)
    throw conflict('The message that this answered was deleted, so that there is nothing to answer.')
  return before
}

function userMessage(id: string, conversationId: string, content: string, createdAt: string) {
  return { id, role: 'user' as const, content, conversationId, toolCalls: null, toolResults: null, createdAt }
}

/** The first line of a conversation's first message, cut at a word. */
function titleOf(content: string): string {
  const line = content.trim().split(/\r?\n/)[0] ?? ''
  if (line.length <= titleCharacters) return line
  return `${cutEnd(line, titleCharacters).replace(/\s+\S*$/, '')}…`
}

/** The conversation that a message goes on with; undefined if it begins a new one. */
async function currentConversation(transaction: Kysely<AgentTables>, input: AskedMessage, asker: Asker) {
  const { conversationId, standingConversationId: standing } = input
  if (conversationId !== undefined && !(await isReached(transaction, conversationId, asker)))
    throw notFound('Conversation')
  if (conversationId !== undefined || standing === undefined) return conversationId
  return (await hasConversation(transaction, standing)) ? standing : undefined
}

/** To a confined caller, conversations of other authors do not exist. */
async function isReached(
  transaction: Kysely<AgentTables>,
  conversationId: string,
  { isConfined, author }: Asker,
) {
  return !isConfined || (await hasConversation(transaction, conversationId, author ?? null))
}
