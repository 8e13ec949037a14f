import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import type { HooksService } from './hooks.service.ts'
import { hookSchema, startedSchema } from './workflows.schema.ts'

const workflowPath = Type.Object({ id: Type.String(), workflowId: Type.String() })
const tags = ['Workflows']
const changing = { area: 'generic', access: 'admin', limit: 'general' } as const

export function registerHookRoutes(app: App, hooks: HooksService): void {
  app.route({
    method: 'POST',
    url: '/api/agents/:id/workflows/:workflowId/hook',
    config: { ...changing, operationId: 'createWorkflowHook' },
    schema: {
      summary: 'A secret address that starts the workflow; the former one is void',
      tags,
      params: workflowPath,
      response: { 200: hookSchema },
    },
    handler: ({ agent, params }) => hooks.create(agent, params.workflowId),
  })

  app.route({
    method: 'DELETE',
    url: '/api/agents/:id/workflows/:workflowId/hook',
    config: { ...changing, operationId: 'deleteWorkflowHook' },
    schema: {
      summary: 'Void the secret address',
      tags,
      params: workflowPath,
      response: { 200: successSchema },
    },
    handler: async ({ agent, params }) => {
      await hooks.remove(agent, params.workflowId)
      return { success: true }
    },
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/hooks/:token',
    config: { area: 'generic', access: 'open', limit: 'general', operationId: 'callWorkflowHook' },
    schema: {
      summary: 'Start the workflow of a secret address; the body is its input',
      tags,
      params: Type.Object({ id: Type.String(), token: Type.String() }),
      body: Type.Unknown({ additionalProperties: true }),
      response: { 200: startedSchema },
    },
    handler: ({ params, body }) => hooks.call(params.id, params.token, body),
  })
}
