/** The service with an MCP feature of its own limits, on the agent `default`. */
import { onTestFinished } from 'vitest'
import type { McpServer, McpTool, NewServer } from '#features/mcp/mcp.schema.ts'
import { createMcpService } from '#features/mcp/mcp.service.ts'
import { type McpLimits, mcpLimits } from '#features/mcp/mcp-limits.ts'
import { systemClock } from '#platform/clock.ts'
import type { ListMeta } from '#platform/http/lists/list-query.ts'
import { randomIds } from '#platform/ids.ts'
import { createLog } from '#platform/logging/log.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import { type Answer, testApp } from './build-app.ts'

interface ToolList {
  tools: McpTool[]
  skipped: { name: string; reason: string }[]
  meta: ListMeta
}

interface StageOptions {
  limits?: Partial<McpLimits>
  outbound?: Outbound
  environment?: Record<string, string>
}

/**
 * Registering and listing go through HTTP. `service` is a second one of the same agent, which has no routes: for calls, and for
 * limits that a test can wait for.
 */
export async function mcpStage({ limits = {}, outbound, environment = {} }: StageOptions = {}) {
  const app = await testApp({ environment: { OUTBOUND_ALLOW: '127.0.0.0/8', ...environment } })
  const { infrastructure } = app.service
  const agent = await infrastructure.agentDatabases.acquire('default')
  const logged: string[] = []
  const service = createMcpService({
    agentSecrets: infrastructure.agentSecrets,
    outboundFetch: (outbound ?? infrastructure.outbound).fetchFunction(),
    version: '0.0.0',
    clock: systemClock,
    ids: randomIds,
    log: createLog('debug', { write: line => logged.push(line) }),
    limits: { ...mcpLimits, ...limits },
  })
  onTestFinished(async () => {
    await service.close()
    agent.release()
  })
  const path = '/api/agents/default/mcp'
  return {
    app,
    agent,
    service,
    path,
    /** What both services have logged. */
    logged: () => [...logged, ...app.logged],
    post: (body: unknown): Promise<Answer> => app.call('POST', path, { body }),
    async register(body: NewServer): Promise<McpServer> {
      const { status, body: server } = await app.call<McpServer>('POST', path, { body })
      if (status !== 201) throw new Error(JSON.stringify(server))
      return server
    },
    async server(id: string): Promise<McpServer> {
      return (await app.call<McpServer>('GET', `${path}/${id}`)).body
    },
    async tools(id: string, query = ''): Promise<ToolList> {
      return (await app.call<ToolList>('GET', `${path}/${id}/tools${query}`)).body
    },
    approve: (id: string, body?: unknown): Promise<Answer> =>
      app.call('POST', `${path}/${id}/approve`, body === undefined ? {} : { body }),
  }
}
