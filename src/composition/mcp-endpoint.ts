import type { AgentsService } from '#features/agents/agents.service.ts'
import type { ChatService } from '#features/chat/chat.service.ts'
import { keptCharacters, truncateResult } from '#features/chat/turn/truncate-result.ts'
import { registerMcpEndpointRoutes } from '#features/mcp-endpoint/mcp-endpoint.routes.ts'
import { createMcpEndpointService } from '#features/mcp-endpoint/mcp-endpoint.service.ts'
import { createProtocol } from '#features/mcp-endpoint/protocol.ts'
import type { App } from '#platform/http/app.ts'
import type { SignalOf } from '#platform/http/closing.ts'
import manifest from '../../package.json' with { type: 'json' }
import type { Foundation } from './foundation.ts'
import type { ModelTools } from './model-tools.ts'
import type { Surroundings } from './surroundings.ts'

interface Needs {
  foundation: Foundation
  surroundings: Surroundings
  agents: AgentsService
  chat: ChatService
  modelTools: ModelTools
  callerSignal: SignalOf
}

/** Makes each agent an MCP server and registers its routes. */
export function composeMcpEndpoint(app: App, needs: Needs): void {
  const { foundation, agents, chat, modelTools } = needs
  const { log } = needs.surroundings
  const endpoint = createMcpEndpointService({
    agents,
    agentDatabases: foundation.agentDatabases,
    chat,
    knowledgeTool: modelTools.knowledgeTool,
    toolsOf: modelTools.all,
    shorten: result => truncateResult(result, keptCharacters),
    log,
  })
  const service = { name: manifest.name, version: manifest.version }
  const protocol = createProtocol({ endpoint, service, log })
  registerMcpEndpointRoutes(app, { protocol, callerSignal: needs.callerSignal })
}
