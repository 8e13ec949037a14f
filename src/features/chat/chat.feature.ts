import type { AgentsFeature } from '#features/agents/agents.feature.ts'
import { temperatureOf } from '#features/agents/settings.service.ts'
import type { ToolsOf } from '#features/collect-tools.ts'
import type { Feature } from '#features/feature.ts'
import type { KnowledgeService } from '#features/knowledge/knowledge.service.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { streamWithRetry } from '#models/transport/call-with-retry.ts'
import { oncePerMoment } from '#platform/event-loop/once-per-moment.ts'
import { registerApprovalRoutes } from './approvals.routes.ts'
import { createApprovalsService } from './approvals.service.ts'
import type { ChatEvents } from './chat.events.ts'
import { registerChatRoutes } from './chat.routes.ts'
import type { ChatService } from './chat.service.ts'
import { createChatService } from './chat.service.ts'
import { createConversationLock } from './conversation-lock.ts'
import { registerConversationRoutes, registerMessageRoutes } from './conversations.routes.ts'
import { createConversationsService } from './conversations.service.ts'
import { createMessageList } from './message-list.ts'
import { keptCharacters, truncateResult } from './turn/truncate-result.ts'

export interface ChatFeature extends Feature {
  chat: ChatService
  /** Bounds what a tool has answered, as for a model. */
  shorten(result: unknown): unknown
}

interface Peers extends Pick<AgentsFeature, 'settings' | 'callerSignal'> {
  knowledge: KnowledgeService
  toolsOf: ToolsOf
}

/** Conversations with agents. */
export function createChat(infrastructure: Infrastructure, peers: Peers): ChatFeature {
  const { models, configuration, instanceId, clock, ids, log } = infrastructure
  const { settings, knowledge, callerSignal, toolsOf } = peers
  const lock = createConversationLock({ clock, holder: instanceId, leaseMs: configuration.leaseMs })
  const listMessages = createMessageList(infrastructure.searchWorkers)
  const conversations = createConversationsService({ lock, listMessages, clock, ids })
  const chat = createChatService({
    agentDatabases: infrastructure.agentDatabases,
    transact: infrastructure.transact,
    metrics: infrastructure.metrics,
    clock,
    ids,
    log,
    conversations,
    lock,
    modelsOf: async agentId => models.list(await settings.profileOf(agentId)),
    agentOf: oncePerMoment(async agentId => {
      const { name, status, settings: chosen, credentials } = await settings.profileOf(agentId)
      return {
        name,
        status,
        instructions: chosen.system_prompt,
        temperature: temperatureOf(chosen),
        model: oncePerMoment(requested => models.resolve({ settings: chosen, credentials, requested })),
      }
    }),
    retrieve: knowledge.passages,
    toolsFor: toolsOf,
    stream: streamWithRetry,
    maxIterations: configuration.chatMaxIterations,
  })
  const statusOf = async (agentId: string) => (await settings.profileOf(agentId)).status
  const approvals = createApprovalsService({ lock, toolsFor: toolsOf, statusOf, clock, log })
  return {
    chat,
    shorten: result => truncateResult(result, keptCharacters),
    routes(app) {
      registerChatRoutes(app, { chat, callerSignal })
      registerApprovalRoutes(app, approvals)
      registerConversationRoutes(app, conversations)
      registerMessageRoutes(app, conversations)
    },
    events: ['message.received', 'message.sent'] satisfies (keyof ChatEvents)[],
    drain: chat.close,
  }
}
