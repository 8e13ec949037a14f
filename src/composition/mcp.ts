import { registerMcpRoutes } from '#features/mcp/mcp.routes.ts'
import type { McpService } from '#features/mcp/mcp.service.ts'
import { createMcpService } from '#features/mcp/mcp.service.ts'
import type { App } from '#platform/http/app.ts'
import manifest from '../../package.json' with { type: 'json' }
import type { Foundation } from './foundation.ts'
import type { Surroundings } from './surroundings.ts'

interface Needs {
  foundation: Foundation
  surroundings: Surroundings
}

/** Composes the MCP feature and registers its routes. */
export function composeMcp(app: App, { foundation, surroundings }: Needs): McpService {
  const { agentSecrets, outbound } = foundation
  const { clock, ids, log } = surroundings
  const mcp = createMcpService({
    agentSecrets,
    outboundFetch: outbound.fetchFunction(),
    version: manifest.version,
    clock,
    ids,
    log,
  })
  registerMcpRoutes(app, mcp)
  return mcp
}
