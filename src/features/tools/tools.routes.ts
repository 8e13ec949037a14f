import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { clientSignal } from '#platform/http/closing.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import {
  clusterDeletedSchema,
  clusterPath,
  newToolSchema,
  testAnswerSchema,
  testCallSchema,
  toolAnswerSchema,
  toolChangesSchema,
  toolListQuery,
  toolListSchema,
} from './tools.schema.ts'
import type { ToolsService } from './tools.service.ts'

const agentPath = Type.Object({ id: Type.String() })
const toolPath = Type.Object({ id: Type.String(), toolId: Type.String() })

export function registerToolRoutes(app: App, tools: ToolsService): void {
  registerReading(app, tools)
  registerChanging(app, tools)
  registerDeleting(app, tools)
}

function registerReading(app: App, tools: ToolsService): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/tools',
    config: { area: 'generic', access: 'viewer', limit: 'general', operationId: 'listTools' },
    schema: {
      summary: 'The tools that the agent was given, by cluster and name',
      tags: ['Tools'],
      params: agentPath,
      querystring: toolListQuery,
      response: { 200: toolListSchema },
    },
    handler: async request => {
      const { rows, meta } = await tools.list(request.agent, request.query)
      return { success: true, data: rows, meta }
    },
  })

  app.route({
    method: 'GET',
    url: '/api/agents/:id/tools/:toolId',
    config: { area: 'generic', access: 'viewer', limit: 'general', operationId: 'getTool' },
    schema: {
      summary: 'A tool; secrets in its headers are masked',
      tags: ['Tools'],
      params: toolPath,
      response: { 200: toolAnswerSchema },
    },
    handler: async request => ({
      success: true,
      data: await tools.find(request.agent, request.params.toolId),
    }),
  })
}

function registerChanging(app: App, tools: ToolsService): void {
  app.route({
    method: 'POST',
    url: '/api/agents/:id/tools',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'createTool' },
    schema: {
      summary: 'Give the agent a tool: an HTTP call, JavaScript, or a tool of an MCP server',
      tags: ['Tools'],
      params: agentPath,
      body: newToolSchema,
      response: { 201: toolAnswerSchema },
    },
    handler: async (request, reply) =>
      reply.code(201).send({ success: true, data: await tools.create(request.agent, request.body) }),
  })

  app.route({
    method: 'PUT',
    url: '/api/agents/:id/tools/:toolId',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'updateTool' },
    schema: {
      summary: 'Change a tool, enable or disable it; a masked secret that is sent back stays as it is',
      tags: ['Tools'],
      params: toolPath,
      body: toolChangesSchema,
      response: { 200: toolAnswerSchema },
    },
    handler: async request => ({
      success: true,
      data: await tools.update(request.agent, request.params.toolId, request.body),
    }),
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/tools/:toolId/test',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'testTool' },
    schema: {
      summary: 'Call a tool once, to see what it answers',
      tags: ['Tools'],
      params: toolPath,
      body: testCallSchema,
      response: { 200: testAnswerSchema },
    },
    handler: (request, reply) => {
      const { agent, params, body } = request
      const signal = AbortSignal.any([clientSignal(reply), agent.signal])
      return tools.test(agent, params.toolId, body.arguments ?? {}, signal)
    },
  })
}

function registerDeleting(app: App, tools: ToolsService): void {
  app.route({
    method: 'DELETE',
    url: '/api/agents/:id/tools',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'deleteTool' },
    schema: {
      summary: 'Delete the tool that `id` names',
      tags: ['Tools'],
      params: agentPath,
      querystring: Type.Object({ id: Type.String({ minLength: 1, description: 'Of the tool.' }) }),
      response: { 200: successSchema },
    },
    handler: async request => {
      await tools.remove(request.agent, request.query.id)
      return { success: true }
    },
  })

  app.route({
    method: 'DELETE',
    url: '/api/agents/:id/tools/cluster/:clusterName',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'deleteToolCluster' },
    schema: {
      summary: 'Delete all tools of a cluster, with its credentials',
      tags: ['Tools'],
      params: clusterPath,
      response: { 200: clusterDeletedSchema },
    },
    handler: async request => ({
      success: true,
      data: { deleted: await tools.removeCluster(request.agent, request.params.clusterName) },
    }),
  })
}
