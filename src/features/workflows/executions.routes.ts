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
  idempotencyHeader,
  retrySchema,
  startedSchema,
} from './workflows.schema.ts'

const agentPath = Type.Object({ id: Type.String() })
const executionPath = Type.Object({ id: Type.String(), executionId: Type.String() })
const nodePath = Type.Object({ ...executionPath.properties, nodeId: Type.String() })
const tags = ['Workflows']
const reading = { area: 'generic', access: 'viewer', limit: 'general' } as const
const changing = { area: 'generic', access: 'admin', limit: 'general' } as const

export function registerExecutionRoutes(app: App, executions: ExecutionsService): void {
  registerReading(app, executions)
  registerChanging(app, executions)
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
    handler: async ({ agent, query }) => {
      const { rows, meta } = await executions.list(agent, query)
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
    handler: ({ agent, params }) => executions.get(agent, params.executionId),
  })
}

function registerChanging(app: App, executions: ExecutionsService): void {
  app.route({
    method: 'POST',
    url: '/api/agents/:id/workflows/execute',
    config: { ...changing, operationId: 'executeWorkflow' },
    schema: {
      summary: 'Start a workflow',
      tags,
      params: agentPath,
      headers: idempotencyHeader,
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
    handler: ({ agent, params }) => executions.terminate(agent, params.executionId),
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/workflows/executions/:executionId/nodes/:nodeId/resume',
    config: { ...changing, operationId: 'resumeNode' },
    schema: {
      summary: 'Approve or reject what a node waits for',
      tags,
      params: nodePath,
      body: decisionSchema,
      response: { 200: successSchema },
    },
    handler: async ({ agent, params, body, user }) => {
      const { executionId, nodeId } = params
      await executions.resume(agent, { executionId, nodeId, ...body, by: user?.email ?? 'anonymous' })
      return { success: true }
    },
  })
}
