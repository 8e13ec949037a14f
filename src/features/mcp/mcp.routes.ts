import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import {
  approvalSchema,
  approvedSchema,
  newServerSchema,
  serverListQuery,
  serverListSchema,
  serverSchema,
  toolListQuery,
  toolListSchema,
} from './mcp.schema.ts'
import type { McpService } from './mcp.service.ts'

const agentPath = Type.Object({ id: Type.String() })
const serverPath = Type.Object({ id: Type.String(), serverId: Type.String() })

export function registerMcpRoutes(app: App, mcp: McpService): void {
  registerReading(app, mcp)
  registerChanging(app, mcp)
}

function registerReading(app: App, mcp: McpService): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/mcp',
    config: { area: 'generic', access: 'viewer', limit: 'general', operationId: 'listMcpServers' },
    schema: {
      summary: 'MCP servers whose tools the agent may use',
      tags: ['MCP'],
      params: agentPath,
      querystring: serverListQuery,
      response: { 200: serverListSchema },
    },
    handler: async request => {
      const { rows, meta } = await mcp.list(request.agent, request.query)
      return { servers: rows, meta }
    },
  })

  app.route({
    method: 'GET',
    url: '/api/agents/:id/mcp/:serverId',
    config: { area: 'generic', access: 'viewer', limit: 'general', operationId: 'getMcpServer' },
    schema: {
      summary: 'An MCP server and what the last attempt to use it came to',
      tags: ['MCP'],
      params: serverPath,
      response: { 200: serverSchema },
    },
    handler: request => mcp.get(request.agent, request.params.serverId),
  })

  app.route({
    method: 'GET',
    url: '/api/agents/:id/mcp/:serverId/tools',
    config: { area: 'generic', access: 'viewer', limit: 'general', operationId: 'listMcpServerTools' },
    schema: {
      summary: 'Ask an MCP server for its tools; the last known ones if it cannot be reached',
      tags: ['MCP'],
      params: serverPath,
      querystring: toolListQuery,
      response: { 200: toolListSchema },
    },
    handler: async request => {
      const { rows, skipped, meta } = await mcp.listTools(
        request.agent,
        request.params.serverId,
        request.query,
      )
      return { tools: rows, skipped, meta }
    },
  })
}

function registerChanging(app: App, mcp: McpService): void {
  app.route({
    method: 'POST',
    url: '/api/agents/:id/mcp',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'registerMcpServer' },
    schema: {
      summary: 'Register an MCP server and agree to the tools that it has now',
      tags: ['MCP'],
      params: agentPath,
      body: newServerSchema,
      response: { 201: serverSchema },
    },
    handler: async (request, reply) => reply.code(201).send(await mcp.register(request.agent, request.body)),
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/mcp/:serverId/approve',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'approveMcpServerTools' },
    schema: {
      summary: 'Agree to new and changed tools, as they were last listed',
      tags: ['MCP'],
      params: serverPath,
      body: approvalSchema,
      response: { 200: approvedSchema },
    },
    handler: async request => {
      const approved = await mcp.approve(request.agent, request.params.serverId, request.body)
      return { success: true, approved }
    },
  })

  app.route({
    method: 'DELETE',
    url: '/api/agents/:id/mcp',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'removeMcpServer' },
    schema: {
      summary: 'Forget an MCP server, its token and its tools',
      tags: ['MCP'],
      params: agentPath,
      querystring: Type.Object({ id: Type.String({ minLength: 1, description: 'Of the server.' }) }),
      response: { 200: successSchema },
    },
    handler: async request => {
      await mcp.remove(request.agent, request.query.id)
      return { success: true }
    },
  })
}
