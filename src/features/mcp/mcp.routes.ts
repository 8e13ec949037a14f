import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import {
  approvalSchema,
  approvedSchema,
  newServerSchema,
  serverListQuery,
  serverSchema,
  toolListQuery,
  toolListSchema,
} from './mcp.schema.ts'
import type { McpService } from './mcp.service.ts'

export function registerMcpRoutes(app: App, mcp: McpService): void {
  const routes = routesBelow(app, '/api/agents/:id/mcp', 'MCP')

  routes.list('', {
    name: 'listMcpServers',
    summary: 'List MCP servers whose tools the agent may use',
    query: serverListQuery,
    rows: 'servers',
    of: serverSchema,
    handle: ({ agent, query }) => mcp.list(agent, query),
  })
  routes.get('/:serverId', {
    name: 'getMcpServer',
    summary: 'Get an MCP server with its connection status',
    answer: serverSchema,
    handle: ({ agent, params }) => mcp.get(agent, params.serverId),
  })
  routes.get('/:serverId/tools', {
    name: 'listMcpServerTools',
    summary: 'List the tools of an MCP server',
    description: 'They are read from the server or, if it cannot be reached, as they were last known.',
    query: toolListQuery,
    answer: toolListSchema,
    async handle({ agent, params, query }) {
      const { rows, skipped, meta } = await mcp.listTools(agent, params.serverId, query)
      return { tools: rows, skipped, meta }
    },
  })
  routes.create('', {
    name: 'registerMcpServer',
    summary: 'Add an MCP server and approve its current tools',
    body: newServerSchema,
    answer: serverSchema,
    handle: ({ agent, body }) => mcp.register(agent, body),
  })
  routes.post('/:serverId/approve', {
    name: 'approveMcpServerTools',
    summary: 'Approve new and changed tools as last listed',
    body: approvalSchema,
    answer: approvedSchema,
    handle: async ({ agent, params, body }) => ({
      success: true,
      approved: await mcp.approve(agent, params.serverId, body),
    }),
  })
  routes.remove('', {
    name: 'removeMcpServer',
    summary: 'Delete an MCP server, its token and its tools',
    query: Type.Object({ id: Type.String({ minLength: 1, description: 'The id of the server.' }) }),
    handle: ({ agent, query }) => mcp.remove(agent, query.id),
  })
}
