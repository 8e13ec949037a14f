import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { clientSignal } from '#platform/http/closing.ts'
import { routesBelow } from '#platform/http/routes.ts'
import {
  clusterDeletedSchema,
  clusterName,
  newToolSchema,
  testAnswerSchema,
  testCallSchema,
  toolAnswerSchema,
  toolChangesSchema,
  toolListQuery,
  toolListSchema,
} from './tools.schema.ts'
import type { ToolsService } from './tools.service.ts'

export function registerToolRoutes(app: App, tools: ToolsService): void {
  const routes = routesBelow(app, '/api/agents/:id/tools', 'Tools')

  routes.get('', {
    name: 'listTools',
    summary: 'List tools by cluster and name',
    query: toolListQuery,
    answer: toolListSchema,
    async handle({ agent, query }) {
      const { rows, meta } = await tools.list(agent, query)
      return { success: true, data: rows, meta }
    },
  })
  routes.get('/:toolId', {
    name: 'getTool',
    summary: 'Get a tool',
    description: 'Secrets in its headers are masked.',
    answer: toolAnswerSchema,
    handle: async ({ agent, params }) => ({ success: true, data: await tools.find(agent, params.toolId) }),
  })
  routes.create('', {
    name: 'createTool',
    summary: 'Create a tool',
    description: 'A tool is an HTTP request, JavaScript, or a tool of an MCP server.',
    body: newToolSchema,
    answer: toolAnswerSchema,
    handle: async ({ agent, body }) => ({ success: true, data: await tools.create(agent, body) }),
  })
  routes.update('/:toolId', {
    name: 'updateTool',
    summary: 'Update, enable or disable a tool',
    description: 'A masked secret that is sent back keeps its value.',
    body: toolChangesSchema,
    answer: toolAnswerSchema,
    handle: async ({ agent, params, body }) => ({
      success: true,
      data: await tools.update(agent, params.toolId, body),
    }),
  })
  routes.post('/:toolId/test', {
    name: 'testTool',
    summary: 'Test a tool by calling it once',
    body: testCallSchema,
    answer: testAnswerSchema,
    handle({ agent, params, body }, reply) {
      const signal = AbortSignal.any([clientSignal(reply), agent.signal])
      return tools.test(agent, params.toolId, body.arguments ?? {}, signal)
    },
  })
  registerDeleting(app, tools)
}

function registerDeleting(app: App, tools: ToolsService): void {
  const routes = routesBelow(app, '/api/agents/:id/tools', 'Tools')

  routes.remove('', {
    name: 'deleteTool',
    summary: 'Delete the tool with this `id`',
    query: Type.Object({ id: Type.String({ minLength: 1, description: 'The id of the tool.' }) }),
    handle: ({ agent, query }) => tools.remove(agent, query.id),
  })
  routes.delete('/cluster/:clusterName', {
    name: 'deleteToolCluster',
    summary: 'Delete the tools and credentials of a cluster',
    parameters: { clusterName },
    answer: clusterDeletedSchema,
    handle: async ({ agent, params }) => ({
      success: true,
      data: { deleted: await tools.removeCluster(agent, params.clusterName) },
    }),
  })
}
