import type { AgentsFeature } from '#features/agents/agents.feature.ts'
import type { ChatFeature } from '#features/chat/chat.feature.ts'
import type { ToolsOf } from '#features/collect-tools.ts'
import type { Feature } from '#features/feature.ts'
import type { KnowledgeFeature } from '#features/knowledge/knowledge.feature.ts'
import type { PaymentsFeature } from '#features/payments/payments.feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { registerMcpEndpointRoutes } from './mcp-endpoint.routes.ts'
import { createMcpEndpointService } from './mcp-endpoint.service.ts'
import { createProtocol } from './protocol.ts'

interface Peers
  extends Pick<AgentsFeature, 'agents' | 'callerSignal'>,
    Pick<ChatFeature, 'questions' | 'answering' | 'files' | 'askerInMcpSession' | 'shorten'>,
    Pick<PaymentsFeature, 'soldTo'> {
  searchTool: KnowledgeFeature['searchTool']
  toolsOf: ToolsOf
}

/** Each agent as an MCP server. */
export function createMcpEndpoint(infrastructure: Infrastructure, peers: Peers): Feature {
  const { agentDatabases, version, log } = infrastructure
  const {
    agents,
    questions,
    answering,
    files,
    askerInMcpSession,
    shorten,
    searchTool,
    soldTo,
    toolsOf,
    callerSignal,
  } = peers
  const endpoint = createMcpEndpointService({
    agents,
    agentDatabases,
    questions,
    answering,
    files,
    knowledgeTool: searchTool,
    toolsOf,
    shorten,
    log,
  })
  const protocol = createProtocol({ endpoint, service: { name: 'agentstead', version }, log })
  return {
    routes: app => registerMcpEndpointRoutes(app, { protocol, soldTo, askerInMcpSession, callerSignal }),
  }
}
