import type { FastifyRequest } from 'fastify'
import type { AgentsFeature } from '#features/agents/agents.feature.ts'
import type { ToolsOf } from '#features/collect-tools.ts'
import type { Feature } from '#features/feature.ts'
import type { Attached } from '#features/knowledge/attached.service.ts'
import type { KnowledgeService } from '#features/knowledge/knowledge.service.ts'
import type { UsageFeature } from '#features/usage/usage.feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { createAnswerOnce } from './answering/answer-once.ts'
import { createAnswerStore } from './answering/answer-store.ts'
import { type Answering, createAnswering } from './answering/answering.ts'
import { createTitles } from './answering/give-title.ts'
import { answerAlone } from './answering/planning/answer-alone.ts'
import { createTurnPlanner, type TurnPlanner } from './answering/planning/plan.ts'
import { createQuestions, type Questions } from './answering/questions.ts'
import { registerApprovalRoutes } from './approvals/approvals.routes.ts'
import { type ApprovalsService, createApprovalsService } from './approvals/approvals.service.ts'
import { createBackgroundTurns } from './background/accept-turn.ts'
import { createRemoveTurnsJob, createTurnJob } from './background/turn.job.ts'
import { createTurnEvents } from './background/turn-events.ts'
import { registerTurnRoutes } from './background/turns.routes.ts'
import { createTurnsService } from './background/turns.service.ts'
import { chatEvents } from './chat.events.ts'
import { registerCatalogueRoutes, registerChatRoutes } from './chat.routes.ts'
import { maxAttachments, messageLength } from './chat.schema.ts'
import { createConversationLock } from './conversations/conversation-lock.ts'
import { createConversationStarts } from './conversations/conversation-starts.ts'
import { registerConversationRoutes, registerMessageRoutes } from './conversations/conversations.routes.ts'
import {
  type ConversationsService,
  createConversationsService,
} from './conversations/conversations.service.ts'
import { createFeedback } from './conversations/feedback.service.ts'
import { createSlowLists } from './conversations/message-list.ts'
import { registerTransferRoutes } from './conversations/transfer/conversation-transfer.routes.ts'
import { createConversationImport } from './conversations/transfer/import-conversation.ts'
import { removeUnusedJobName } from './conversations/unused-files.ts'
import { registerFileRoutes } from './files/chat-files.routes.ts'
import { type ChatFiles, createChatFiles, createRemoveUnusedJob } from './files/chat-files.service.ts'
import { createConversationDocuments } from './files/conversation-documents.ts'
import { responseFormatSchema } from './form/response-format.ts'
import { type Asker, askerInMcpSession, sightOf } from './reach.ts'
import { createRunning, type Running } from './turn/running.ts'
import { keptCharacters, truncateResult } from './turn/truncate-result.ts'
import { removeTurnsJobName } from './waiting/end-turn.ts'
import { createHeldWaits } from './waiting/held-waits.ts'
import { expireJobName } from './waiting/parking.ts'
import { turnJobName } from './waiting/stored-turn.ts'
import { isWaitOver, TurnIsWaiting } from './waiting/wait-state.ts'
import { createWaiting, type WaitingTurns } from './waiting/waiting.service.ts'

/** The schema for other features whose answers have a form. */
export const formSchema = responseFormatSchema

/** Max characters of a message, for other features that accept one. */
export const maxMessageLength = messageLength

/** Max files of a message, for other features that accept one. */
export const maxFiles = maxAttachments
/** Returns true if the error means that a turn waits for a person. */
export function isTurnWaiting(error: unknown): boolean {
  return error instanceof TurnIsWaiting
}

export { isWaitOver }

/**
 * Returns the time until the retry of a message that came `age` ago to a conversation whose turn waits for a person, in
 * milliseconds, like `age`: a retry plans the turn, and the wait can take a day.
 */
export function pauseBehindTurn(age: number): number {
  return Math.min(Math.max(1_000, age / 4), 60_000)
}

export interface ChatFeature extends Feature {
  questions: Pick<Questions, 'accept'>
  answering: Pick<Answering, 'answer'>
  askerInMcpSession(request: FastifyRequest): Asker
  /** Returns true if the caller may see a conversation. */
  maySee(request: FastifyRequest, conversationId: string): Promise<boolean>
  answerOnce: ReturnType<typeof createAnswerOnce>
  approvals: Pick<ApprovalsService, 'decide'>
  /** Ends the turn of a message after its decision, for callers of `answerOnce` that no longer continue the message. */
  abandon: WaitingTurns['abandon']
  abandonAll: WaitingTurns['abandonAll']
  /** Receives files for messages. */
  files: Pick<ChatFiles, 'receive' | 'discard' | 'examine'>
  /** Plans turns of conversations that are stored elsewhere. */
  planner: TurnPlanner
  running: Pick<Running, 'run'>
  /** Changes a message to its author's new text, in the caller's transaction. */
  editMessage: ConversationsService['editMessage']
  /** Answers a question outside of conversations. */
  answerAlone(
    agent: AgentHandle,
    question: Parameters<typeof answerAlone>[2],
    signal: AbortSignal,
  ): ReturnType<typeof answerAlone>
  /** Shortens a tool's result as for a model. */
  shorten(result: unknown): unknown
}

interface Peers
  extends Pick<AgentsFeature, 'settings' | 'callerSignal' | 'stillPermitted'>,
    Pick<UsageFeature, 'usage'> {
  knowledge: KnowledgeService
  attached: Attached
  toolsOf: ToolsOf
  /** Returns true if a session still has a browser, in any process. */
  isBrowserOpen(agent: AgentHandle, sessionId: string): Promise<boolean>
}

/** Manages conversations with agents. */
export function createChat(infrastructure: Infrastructure, peers: Peers): ChatFeature {
  const { models, configuration, instanceId, transact, changes, clock, log } = infrastructure
  const { settings, attached, callerSignal, stillPermitted, isBrowserOpen, toolsOf } = peers
  const lock = createConversationLock({ clock, holder: instanceId, leaseMs: configuration.leaseMs })
  const waiting = createWaiting({ lock, isBrowserOpen, transact, clock })
  const slowLists = createSlowLists(infrastructure.searchWorkers)
  const conversations = createConversationsService({ lock, slowLists, transact })
  const { maxConversations, maxUploadBytes, chatMaxIterations: maxIterations } = configuration
  const files = createChatFiles({ ...infrastructure, lock, maxUploadBytes })
  const settingsOf = async (agentId: string) => (await settings.profileOf(agentId)).settings
  const starts = createConversationStarts({ ...infrastructure, lock, maxConversations, settingsOf })
  const importConversation = createConversationImport({ ...infrastructure, starts })
  const documents = createConversationDocuments({ attached, log })
  const planner = createTurnPlanner({ ...infrastructure, ...peers, documents, maxIterations })
  const questions = createQuestions({ ...infrastructure, planner, starts, lock, files, waiting })
  const store = createAnswerStore({ lock, transact })
  const running = createRunning()
  const giveTitle = createTitles({ ...infrastructure, planner, running })
  const stopping = new AbortController()
  const holdWait = createHeldWaits({ ...infrastructure, waiting, running, stopping: stopping.signal })
  const answering = createAnswering({ store, running, holdWait, giveTitle, clock, log })
  const background = createBackgroundTurns({ ...infrastructure, waiting, lock, starts })
  const turns = createTurnsService({ running, changes, background, clock })
  const beginning = { waiting, questions, answering, lock, stillPermitted }
  const events = createTurnEvents({ changes, callerSignal, stopping: stopping.signal })
  const answerOnce = createAnswerOnce({ ...infrastructure, waiting, conversations, questions, answering })
  const statusOf = async (agentId: string) => (await settings.profileOf(agentId)).status
  const approvals = createApprovalsService({ ...infrastructure, waiting, lock, toolsFor: toolsOf, statusOf })
  const modelsOf = async (agentId: string) => models.list(await settings.profileOf(agentId))
  return {
    questions,
    answering,
    askerInMcpSession,
    maySee: (request, id) => conversations.has(request.agent.db, id, sightOf(request)),
    ...{ answerOnce, approvals, abandon: waiting.abandon, abandonAll: waiting.abandonAll },
    files,
    planner,
    running,
    editMessage: conversations.editMessage,
    answerAlone: (...question) => answerAlone(planner, ...question),
    shorten: result => truncateResult(result, keptCharacters),
    routes(app) {
      const answers = { questions, answering, callerSignal, background, events, files, maxUploadBytes }
      registerChatRoutes(app, answers)
      registerFileRoutes(app, { files, maxUploadBytes })
      registerCatalogueRoutes(app, { modelsOf, toolsOf })
      registerApprovalRoutes(app, approvals)
      registerConversationRoutes(app, conversations, starts)
      registerTransferRoutes(app, { conversations, importConversation, maxUploadBytes })
      registerMessageRoutes(app, conversations, createFeedback({ transact, clock }))
      registerTurnRoutes(app, turns, events)
    },
    jobs: {
      [removeUnusedJobName]: createRemoveUnusedJob(infrastructure),
      [turnJobName]: createTurnJob({ ...infrastructure, ...beginning }),
      [expireJobName]: waiting.expireJob,
      [removeTurnsJobName]: createRemoveTurnsJob(infrastructure),
    },
    events: chatEvents,
    drain: graceMs => {
      stopping.abort()
      return running.close(graceMs)
    },
  }
}
