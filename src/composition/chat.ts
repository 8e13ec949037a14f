import type { SettingsService } from '#features/agents/settings.service.ts'
import { temperatureOf } from '#features/agents/settings.service.ts'
import { registerApprovalRoutes } from '#features/chat/approvals.routes.ts'
import { createApprovalsService } from '#features/chat/approvals.service.ts'
import { registerChatRoutes } from '#features/chat/chat.routes.ts'
import { createChatService } from '#features/chat/chat.service.ts'
import { createConversationLock } from '#features/chat/conversation-lock.ts'
import { registerConversationRoutes, registerMessageRoutes } from '#features/chat/conversations.routes.ts'
import { createConversationsService } from '#features/chat/conversations.service.ts'
import { createMessageList } from '#features/chat/message-list.ts'
import type { KnowledgeService } from '#features/sources/knowledge.service.ts'
import type { Models } from '#models/models.ts'
import { streamWithRetry } from '#models/transport/call-with-retry.ts'
import { oncePerMoment } from '#platform/event-loop/once-per-moment.ts'
import type { App } from '#platform/http/app.ts'
import type { SignalOf } from '#platform/http/closing.ts'
import type { Metrics } from '#platform/metrics.ts'
import type { Configuration } from '../config.ts'
import type { Foundation } from './foundation.ts'
import type { ModelTools } from './model-tools.ts'
import type { Surroundings } from './surroundings.ts'

interface Needs {
  foundation: Foundation
  surroundings: Surroundings
  settings: SettingsService
  models: Models
  knowledge: KnowledgeService
  modelTools: ModelTools
  metrics: Metrics
  configuration: Configuration
  callerSignal: SignalOf
}

/** Composes the chat feature and registers its routes. */
export function composeChat(app: App, needs: Needs) {
  const { foundation, models, settings, knowledge, modelTools } = needs
  const { agentDatabases, transact, instanceId } = foundation
  const { clock, ids, log } = needs.surroundings

  const lock = createConversationLock({
    clock,
    holder: instanceId,
    leaseMs: needs.configuration.leaseMs,
  })
  const conversations = createConversationsService({
    lock,
    listMessages: createMessageList(foundation.searchWorkers),
    clock,
    ids,
  })
  const chat = createChatService({
    agentDatabases,
    conversations,
    lock,
    transact,
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
    builtInTools: modelTools.builtIn,
    toolsFor: modelTools.all,
    stream: streamWithRetry,
    maxIterations: needs.configuration.chatMaxIterations,
    clock,
    ids,
    log,
    metrics: needs.metrics,
  })
  registerChatRoutes(app, { chat, callerSignal: needs.callerSignal })
  const statusOf = async (agentId: string) => (await settings.profileOf(agentId)).status
  registerApprovalRoutes(
    app,
    createApprovalsService({ lock, toolsFor: modelTools.all, statusOf, clock, log }),
  )
  registerConversationRoutes(app, conversations)
  registerMessageRoutes(app, conversations)
  return chat
}
