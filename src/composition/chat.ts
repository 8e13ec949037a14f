import type { SettingsService } from '#features/agents/settings.service.ts'
import { temperatureOf } from '#features/agents/settings.service.ts'
import { registerApprovalRoutes } from '#features/chat/approvals.routes.ts'
import { createApprovalsService } from '#features/chat/approvals.service.ts'
import { browseUrl } from '#features/chat/builtin-tools/browse-url.ts'
import { executeSql } from '#features/chat/builtin-tools/execute-sql.ts'
import { searchKnowledge } from '#features/chat/builtin-tools/search-knowledge.ts'
import { registerChatRoutes } from '#features/chat/chat.routes.ts'
import { createChatService } from '#features/chat/chat.service.ts'
import { createConversationLock } from '#features/chat/conversation-lock.ts'
import { registerConversationRoutes, registerMessageRoutes } from '#features/chat/conversations.routes.ts'
import { createConversationsService } from '#features/chat/conversations.service.ts'
import { createMessageList } from '#features/chat/message-list.ts'
import type { Knowledge } from '#features/sources/knowledge.service.ts'
import { createPageReader } from '#features/sources/page-reader.service.ts'
import type { SqlService } from '#features/sql/sql.service.ts'
import type { ToolsService } from '#features/tools/tools.service.ts'
import { streamWithRetry } from '#models/call-with-retry.ts'
import type { Models } from '#models/models.ts'
import type { Tool } from '#models/tool.ts'
import { nameTools } from '#models/tool-name.ts'
import type { App } from '#platform/http/app.ts'
import type { Metrics } from '#platform/metrics.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Configuration } from '../config.ts'
import type { Foundation } from './foundation.ts'
import type { Surroundings } from './surroundings.ts'

interface Needs {
  foundation: Foundation
  surroundings: Surroundings
  settings: SettingsService
  models: Models
  knowledge: Knowledge
  sql: SqlService
  tools: ToolsService
  metrics: Metrics
  configuration: Configuration
}

/** Puts the chat feature together and registers its routes. */
export function composeChat(app: App, needs: Needs) {
  const { foundation, models, settings, knowledge } = needs
  const { agentDatabases, transact, instanceId, outbound } = foundation
  const { clock, ids, log } = needs.surroundings

  const builtInTools = (agent: AgentHandle): Tool[] => [
    searchKnowledge((query, limit, signal) => knowledge.search(agent, { query, limit }, signal)),
    browseUrl(outbound, createPageReader(foundation.documentWorkers)),
    executeSql({
      sql: (statement, signal) => needs.sql.execute(agent, statement, signal),
      mayWrite: async () => (await settings.profileOf(agent.agentId)).settings.sql_tool_writes === true,
    }),
  ]
  const toolsFor = async (agent: AgentHandle) =>
    nameTools([...builtInTools(agent), ...(await needs.tools.tools(agent))])
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
    async agentOf(agentId) {
      const { name, status, settings: chosen, credentials } = await settings.profileOf(agentId)
      return {
        name,
        status,
        instructions: chosen.system_prompt,
        temperature: temperatureOf(chosen),
        model: requested => models.resolve({ settings: chosen, credentials, requested }),
      }
    },
    retrieve: (agent, question, signal) => knowledge.passages(agent, question, signal),
    builtInTools,
    toolsFor,
    stream: streamWithRetry,
    maxIterations: needs.configuration.chatMaxIterations,
    clock,
    ids,
    log,
    metrics: needs.metrics,
  })
  registerChatRoutes(app, chat)
  registerApprovalRoutes(app, createApprovalsService({ lock, toolsFor, clock, log }))
  registerConversationRoutes(app, conversations)
  registerMessageRoutes(app, conversations)
  return chat
}
