import { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { idempotencyKeyOf } from '#platform/http/requests/idempotency-key.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import { limitWaiting } from '#platform/http/responses/slow-readers.ts'
import { routesBelow } from '#platform/http/routes.ts'
import type { ExecutionsService } from './executions.service.ts'
import {
  decisionSchema,
  executeSchema,
  executionListQuery,
  executionSchema,
  executionSummarySchema,
  idempotencyHeader,
  retrySchema,
  startedSchema,
} from './workflows.schema.ts'

export function registerExecutionRoutes(app: App, executions: ExecutionsService): void {
  const routes = routesBelow(app, '/api/agents/:id/workflows', 'Workflows')

  routes.list('/executions', {
    name: 'listExecutions',
    summary: 'List executions, the latest first',
    query: executionListQuery,
    rows: 'executions',
    of: executionSummarySchema,
    handle: ({ agent, query }) => executions.list(agent, query),
  })
  routes.get('/executions/:executionId', {
    name: 'getExecution',
    summary: 'Get an execution with the results of its nodes',
    answer: Type.Unsafe<Readable>(executionSchema),
    async handle({ agent, params }, reply) {
      const parts = await executions.read(agent, params.executionId)
      limitWaiting(reply.raw)
      void reply.type('application/json; charset=utf-8')
      return Readable.from(parts)
    },
  })
  routes.post('/execute', {
    name: 'executeWorkflow',
    summary: 'Start a workflow',
    headers: idempotencyHeader,
    body: executeSchema,
    answer: startedSchema,
    handle: request => executions.execute(request.agent, request.body, idempotencyKeyOf(request)),
  })
  routes.post('/executions/:executionId/retry', {
    name: 'retryExecution',
    summary: 'Retry an execution',
    description: 'Starts a new execution, which continues at the node that failed.',
    body: retrySchema,
    answer: startedSchema,
    handle: ({ agent, params, body }) => executions.retry(agent, params.executionId, body),
  })
  routes.post('/executions/:executionId/terminate', {
    name: 'terminateExecution',
    summary: 'Terminate an execution',
    answer: executionSummarySchema,
    handle: ({ agent, params }) => executions.terminate(agent, params.executionId),
  })
  routes.post('/executions/:executionId/nodes/:nodeId/resume', {
    name: 'resumeNode',
    summary: 'Approve or reject a node that waits for approval',
    body: decisionSchema,
    answer: successSchema,
    async handle({ agent, params, body, user }) {
      const { executionId, nodeId } = params
      await executions.resume(agent, { executionId, nodeId, ...body, by: user?.email ?? 'anonymous' })
      return { success: true }
    },
  })
}
