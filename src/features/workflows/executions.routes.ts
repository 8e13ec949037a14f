import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import type { ExecutionsService } from './executions.service.ts'
import {
  decisionSchema,
  executeSchema,
  executionListQuery,
  executionListSchema,
  executionSchema,
  executionSummarySchema,
  retrySchema,
  startedSchema,
} from './workflows.schema.ts'

const agentPath = Type.Object({ id: Type.String() })
const executionPath = Type.Object({ id: Type.String(), executionId: Type.String() })
const tags = ['Workflows']
const reading = { area: 'generic', access: 'viewer', limit: 'general' } as const
const changing = { area: 'generic', access: 'admin', limit: 'general' } as const

interface Parts {
  executions: ExecutionsService
  /** @throws NOT_FOUND for a token that starts nothing. */
  callHook(agentId: string, token: string, body: unknown): ReturnType<ExecutionsService['start']>
}

export function registerExecutionRoutes(app: App, { executions, callHook }: Parts): void {
  registerStarts(app, executions)
  registerReading(app, executions)
  registerControl(app, executions)
  app.route({
    method: 'POST',
    url: '/api/agents/:id/hooks/:token',
    config: { area: 'generic', access: 'open', limit: 'general', operationId: 'callWorkflowHook' },
    schema: {
      summary: 'Start the workflow that the secret address belongs to, with the body as its input',
      tags,
      params: Type.Object({ id: Type.String(), token: Type.String() }),
      body: Type.Unknown({ additionalProperties: true }),
      response: { 200: startedSchema },
    },
    handler: ({ params, body }) => callHook(params.id, params.token, body),
  })
}

function registerStarts(app: App, executions: ExecutionsService): void {
  app.route({
    method: 'POST',
    url: '/api/agents/:id/workflows/execute',
    config: { ...changing, operationId: 'executeWorkflow' },
    schema: {
      summary: 'Start a workflow',
      tags,
      params: agentPath,
      headers: Type.Object({
        'idempotency-key': Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      }),
      body: executeSchema,
      response: { 200: startedSchema },
    },
    handler: ({ agent, body, headers }) => executions.execute(agent, body, headers['idempotency-key']),
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/workflows/executions/:executionId/retry',
    config: { ...changing, operationId: 'retryExecution' },
    schema: {
      summary: 'Start a new execution that goes on where this one failed',
      tags,
      params: executionPath,
      body: retrySchema,
      response: { 200: startedSchema },
    },
    handler: ({ agent, params, body }) => executions.retry(agent, params.executionId, body),
  })
}

function registerReading(app: App, executions: ExecutionsService): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/workflows/executions',
    config: { ...reading, operationId: 'listExecutions' },
    schema: {
      summary: 'Executions, the latest first',
      tags,
      params: agentPath,
      querystring: executionListQuery,
      response: { 200: executionListSchema },
    },
    handler: async request => {
      const { rows, meta } = await executions.list(request.agent, request.query)
      return { executions: rows, meta }
    },
  })

  app.route({
    method: 'GET',
    url: '/api/agents/:id/workflows/executions/:executionId',
    config: { ...reading, operationId: 'getExecution' },
    schema: {
      summary: 'An execution with the results of its nodes so far',
      tags,
      params: executionPath,
      response: { 200: executionSchema },
    },
    handler: request => executions.get(request.agent, request.params.executionId),
  })
}

function registerControl(app: App, executions: ExecutionsService): void {
  app.route({
    method: 'POST',
    url: '/api/agents/:id/workflows/executions/:executionId/terminate',
    config: { ...changing, operationId: 'terminateExecution' },
    schema: {
      summary: 'End an execution now',
      tags,
      params: executionPath,
      response: { 200: executionSummarySchema },
    },
    handler: request => executions.terminate(request.agent, request.params.executionId),
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/workflows/executions/:executionId/nodes/:nodeId/resume',
    config: { ...changing, operationId: 'resumeNode' },
    schema: {
      summary: 'Approve or reject what a node waits for',
      tags,
      params: Type.Object({ ...executionPath.properties, nodeId: Type.String() }),
      body: decisionSchema,
      response: { 200: successSchema },
    },
    handler: async ({ agent, params, body, user }) => {
      await executions.resume(agent, params.executionId, params.nodeId, body, user?.email ?? 'anonymous')
      return { success: true }
    },
  })
}
