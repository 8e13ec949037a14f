import type { Static } from 'typebox'
import type { ToolTurn } from '#features/feature.ts'
import { conflict } from '#platform/errors.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { createAnswerStore } from './answering/answer-store.ts'
import type { AnsweringDependencies } from './answering/answering.ts'
import { createAnswering } from './answering/answering.ts'
import type { AskedMessage, AskingDependencies } from './answering/asking.ts'
import { createAsking } from './answering/asking.ts'
import type { Question } from './answering/question.ts'
import type { Asker, PlannerDependencies, PlanOptions } from './answering/turn-planner.ts'
import { createTurnPlanner } from './answering/turn-planner.ts'
import type { ChatMessage, modelSchema, ToolScope } from './chat.schema.ts'
import { messageLength } from './chat.schema.ts'
import { streamAnswer } from './event-stream.ts'
import { findMessage, findNext, isWholeAnswer, toPublic } from './messages.repository.ts'
import type { StreamEvent, TurnEvent } from './stream-events.schema.ts'

/** Characters of a message, for whatever else takes one. */
export const maxMessageLength = messageLength

/** For those who want to know which tools there are. */
const anyTurn: ToolTurn = { conversationId: '', isOutsider: false, onPageRead() {}, onTakeover() {} }

interface Dependencies
  extends PlannerDependencies,
    Omit<AskingDependencies, 'planner'>,
    Omit<AnsweringDependencies, 'store'> {
  modelsOf(agentId: string): Promise<Static<typeof modelSchema>[]>
}

/** Asking an agent and getting its answer, and what a caller can choose from. */
export function createChatService(needs: Dependencies) {
  const planner = createTurnPlanner(needs)
  const answering = createAnswering({ ...needs, store: createAnswerStore(needs) })
  const asking = createAsking({ ...needs, planner })

  return {
    ask: asking.ask,
    askAgain: asking.askAgain,

    /** Answers, and calls `tell` with each event; the turn ends when `client` aborts. Never rejects. */
    stream: (question: Question, client: AbortSignal, tell: (event: StreamEvent) => void) =>
      streamAnswer(answering, question, client, tell),

    /**
     * Answers in one piece, and calls `emit` with each event of the turn. Throws what ended the turn, even if something was
     * said before.
     */
    async answer(
      question: Question,
      client: AbortSignal,
      emit: (event: TurnEvent) => void = () => {},
    ): Promise<{ userMessage: ChatMessage; assistantMessage: ChatMessage }> {
      const { assistantMessage, error } = await answering.run(question, emit, client)
      if (error !== undefined) throw error
      if (assistantMessage === undefined)
        throw conflict('The request was aborted before there was an answer.')
      return { userMessage: toPublic(question.userMessage), assistantMessage }
    },

    /**
     * The answer to a message whose id the caller has chosen. Called again after an interruption it goes on: what is
     * stored is neither asked nor answered twice. If others went on in the conversation before there was an answer, the
     * message moves behind what they said. Throws as `ask` and `answer` do.
     */
    async answerOnce(
      agentId: string,
      message: AskedMessage & { id: string },
      asker: Asker,
      client: AbortSignal,
    ): Promise<ChatMessage> {
      const { isAsked, next } = await needs.agentDatabases.use(agentId, async ({ db }) => {
        const asked = await findMessage(db, message.id)
        const next = asked && (await findNext(db, asked))
        const isOvertaken = next?.role === 'user'
        if (isOvertaken) await needs.conversations.removeMessage(db, message.id)
        return { isAsked: asked !== undefined && !isOvertaken, next }
      })
      if (next && isWholeAnswer(next)) return toPublic(next)
      const question = await (isAsked
        ? asking.askAgain(agentId, message.id, {}, asker)
        : asking.ask(agentId, message, asker))
      return (await this.answer(question, client)).assistantMessage
    },

    /** A question that is in no conversation: nothing of it is stored. Throws what ended the turn. */
    async turn(
      agent: AgentHandle,
      { content, ...options }: { content: string } & Omit<PlanOptions, keyof Asker>,
      asker: Asker,
      signal: AbortSignal,
    ): Promise<Pick<ChatMessage, 'content' | 'toolCalls' | 'toolResults' | 'metadata'>> {
      const plan = await planner.plan(agent.agentId, { ...options, ...asker })
      const userMessage = { content, conversationId: '', sequence: 0, toolResults: null }
      const { end, ...said } = await plan.run({ agent, userMessage, isFirst: true }, () => {}, signal)
      signal.throwIfAborted()
      if (end.kind === 'failed') throw end.error
      return { ...said, metadata: { model: plan.model } }
    },

    /** The models that the agent can use. */
    models: needs.modelsOf,

    /** Tools as a model sees them: those that come with the service, or all that it may be offered. */
    async tools(agent: AgentHandle, scope: ToolScope) {
      const tools = await needs.toolsFor(agent, anyTurn)
      return tools
        .filter(({ isBuiltIn }) => isBuiltIn || scope === 'all')
        .map(({ name, description, parameters }) => ({ name, description, parameters }))
    },

    /** Lets running turns finish within the grace (milliseconds); then ends them with an error. */
    close: answering.close,
  }
}

export type ChatService = ReturnType<typeof createChatService>
