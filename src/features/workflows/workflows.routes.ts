import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import type { HooksService } from './hooks.service.ts'
import {
  hookSchema,
  newWorkflowSchema,
  startedSchema,
  workflowChangesSchema,
  workflowListQuery,
  workflowListSchema,
  workflowSchema,
} from './workflows.schema.ts'
import type { WorkflowsService } from './workflows.service.ts'

const agentPath = Type.Object({ id: Type.String() })
const workflowPath = Type.Object({ id: Type.String(), workflowId: Type.String() })
const tags = ['Workflows']
const reading = { area: 'generic', access: 'viewer', limit: 'general' } as const
const changing = { area: 'generic', access: 'admin', limit: 'general' } as const

export function registerWorkflowRoutes(app: App, workflows: WorkflowsService, hooks: HooksService): void {
  registerDefinitions(app, workflows)
  registerHooks(app, hooks)
}

function registerDefinitions(app: App, workflows: WorkflowsService): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/workflows',
    config: { ...reading, operationId: 'listWorkflows' },
    schema: {
      summary: 'Workflows, the latest first',
      tags,
      params: agentPath,
      querystring: workflowListQuery,
      response: { 200: workflowListSchema },
    },
    handler: async ({ agent, query }) => {
      const { rows, meta } = await workflows.list(agent, query)
      return { workflows: rows, meta }
    },
  })

  app.route({
    method: 'GET',
    url: '/api/agents/:id/workflows/:workflowId',
    config: { ...reading, operationId: 'getWorkflow' },
    schema: {
      summary: 'A workflow with its nodes and edges',
      tags,
      params: workflowPath,
      response: { 200: workflowSchema },
    },
    handler: ({ agent, params }) => workflows.get(agent, params.workflowId),
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/workflows',
    config: { ...changing, operationId: 'createWorkflow' },
    schema: {
      summary: 'Create a workflow',
      tags,
      params: agentPath,
      body: newWorkflowSchema,
      response: { 201: workflowSchema },
    },
    handler: async ({ agent, body }, reply) => reply.code(201).send(await workflows.create(agent, body)),
  })

  app.route({
    method: 'PUT',
    url: '/api/agents/:id/workflows/:workflowId',
    config: { ...changing, operationId: 'updateWorkflow' },
    schema: {
      summary: 'Change a workflow; executions that run keep their version',
      tags,
      params: workflowPath,
      body: workflowChangesSchema,
      response: { 200: workflowSchema },
    },
    handler: ({ agent, params, body }) => workflows.update(agent, params.workflowId, body),
  })

  app.route({
    method: 'DELETE',
    url: '/api/agents/:id/workflows/:workflowId',
    config: { ...changing, operationId: 'deleteWorkflow' },
    schema: {
      summary: 'Delete a workflow, and terminate its executions',
      tags,
      params: workflowPath,
      response: { 200: successSchema },
    },
    handler: async ({ agent, params }) => {
      await workflows.remove(agent, params.workflowId)
      return { success: true }
    },
  })
}

function registerHooks(app: App, hooks: HooksService): void {
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
    config: { area: 'generic', access: 'anyone', limit: 'general', operationId: 'callWorkflowHook' },
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
