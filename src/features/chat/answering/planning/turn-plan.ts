import type { SettingsService, StoredSettings } from '#features/agents/settings.service.ts'
import type { ToolsOf } from '#features/collect-tools.ts'
import type { KnowledgeService } from '#features/knowledge/knowledge.service.ts'
import type { UsageService } from '#features/usage/usage.service.ts'
import type { PromptMessage } from '#models/language-model/language-model.ts'
import type { CitedPassage } from '#models/language-model/passages.ts'
import type { Models } from '#models/models.ts'
import type { Tool } from '#models/tools/tool.ts'
import type { Clock } from '#platform/clock.ts'
import type { Ids } from '#platform/ids.ts'
import type { Log } from '#platform/logging/log.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { ReadPage } from '../../chat.schema.ts'
import type { OpenDocuments } from '../../files/conversation-documents.ts'
import type { ResponseFormat } from '../../form/response-format.ts'
import type { Asker } from '../../reach.ts'
import type { StoredMessage } from '../../rows/messages.repository.ts'
import type { TurnEvent, TurnOutcome } from '../../turn/turn.ts'
import type { TurnInput } from '../../turn/turn-input.ts'
import type { PlannedState, Recording } from '../../waiting/recorded-turn.ts'

/** The plan for answering a question, made before the question is stored, so that a wrong model costs nothing. */
export interface TurnPlan {
  model: string
  /** The agent's settings when the question was asked. */
  settings: StoredSettings
  run(
    context: QuestionContext,
    emit: (event: TurnEvent) => void,
    signal: AbortSignal,
    recording?: Recording<PlannedState>,
  ): Promise<PlannedOutcome>
}

export interface PlannedOutcome extends TurnOutcome {
  /** Number of the agent's tools that the model was not offered, because there are too many for it. */
  toolsLeftOut: number
  /** Pages that tools have read, in order of first reading. */
  pages: ReadPage[]
  /** Passages that the model was shown, in order of retrieval. */
  passages: CitedPassage[]
  /** The state of a turn that waits. */
  planned?: PlannedState
  /** The passages as the prompt had them after the question; empty if none was found. */
  shown: string
}

export interface QuestionContext {
  agent: AgentHandle
  /** A message without an id is not stored. */
  userMessage: Pick<StoredMessage, 'conversationId' | 'sequence' | 'content' | 'toolResults' | 'metadata'> &
    Partial<Pick<StoredMessage, 'id'>>
  /** True if the conversation has no earlier messages. */
  isFirst: boolean
  /** The caller's conversation, which replaces a stored one. */
  sent?: SentConversation
}

/** A conversation stored by the caller and sent in full. Its texts are untrusted. */
export interface SentConversation extends Pick<TurnInput, 'call' | 'toolChoice'> {
  /** The messages without a system message. */
  messages: readonly PromptMessage[]
  /** The caller's own instructions, which follow the agent's. */
  wishes: string
  /** The tools that the caller runs. */
  tools: readonly Tool[]
}

export interface PlanOptions extends Pick<Asker, 'isOutsider'> {
  model?: string
  enableTools?: boolean
  autoRag?: boolean
  /** Replaces the agent's own instructions. */
  instructions?: string
  response_format?: ResponseFormat | null | undefined
}

export interface Dependencies {
  settings: Pick<SettingsService, 'profileOf'>
  models: Pick<Models, 'resolve'>
  knowledge: Pick<KnowledgeService, 'passages'>
  usage: Pick<UsageService, 'meter'>
  documents: { open: OpenDocuments }
  toolsOf: ToolsOf
  searchWorkers: WorkerPool
  maxIterations: number
  clock: Clock
  ids: Ids
  log: Log
}
