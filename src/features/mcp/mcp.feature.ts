import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { registerMcpRoutes } from './mcp.routes.ts'
import { createMcpService, type McpService } from './mcp.service.ts'

export interface McpFeature extends Feature {
  mcp: McpService
}

/** MCP servers that agents use. The tools feature offers their tools to models, beside those made of them. */
export function createMcp({ agentSecrets, outbound, version, clock, ids, log }: Infrastructure): McpFeature {
  const outboundFetch = outbound.fetchFunction()
  const mcp = createMcpService({ agentSecrets, outboundFetch, version, clock, ids, log })
  return { mcp, routes: app => registerMcpRoutes(app, mcp), stop: mcp.close }
}
