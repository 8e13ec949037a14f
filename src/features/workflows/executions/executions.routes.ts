import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { labelOf } from '#platform/actor.ts'
import type { App } from '#platform/http/app.ts'
import { clientSignal } from '#platform/http/closing.ts'
import { idempotencyKeyOf } from '#platform/http/requests/idempotency-key.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import { limitWaiting } from '#platform/http/responses/slow-readers.ts'
import { routesBelow } from '#platform/http/routes.ts'
import {
  decisionSchema,
  executedSchema,
  executeSchema,
  executionListQuery,
  executionSchema,
  executionSummarySchema,
  idempotencyHeader,
  nodeResultQuery,
  nodeResultSchema,
  retrySchema,
  type Started,
  startedSchema,
} from '../workflows.schema.ts'
import type { ExecutionsService } from './executions.service.ts'

/** Sends JSON in chunks. */
function streamed(reply: FastifyReply, parts: AsyncGenerator<string> | string[]): Readable {
  limitWaiting(reply.raw)
  void reply.type('application/json; charset=utf-8')
  return Readable.from(parts)
}

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
    handle: async ({ agent, params }, reply) =>
      streamed(reply, await executions.read(agent, params.executionId)),
  })
  routes.get('/executions/:executionId/nodes/:nodeId', {
    name: 'getNodeResult',
    summary: 'Get the whole input and output of a node',
    query: nodeResultQuery,
    answer: Type.Unsafe<Readable>(nodeResultSchema),
    async handle({ agent, params, query }, reply) {
      const { executionId, nodeId } = params
      return streamed(reply, [await executions.readNode(agent, executionId, nodeId, query.path)])
    },
  })
  routes.post('/execute', {
    name: 'executeWorkflow',
    summary: 'Start a workflow',
    description: 'With `wait`, answers the execution: as it ended, or as it runs when the time is over.',
    headers: idempotencyHeader,
    body: executeSchema,
    answer: Type.Unsafe<Started | Readable>(executedSchema),
    async handle(request, reply) {
      const { agent, body } = request
      const { wait, ...options } = body
      const key = idempotencyKeyOf(request)
      if (wait === undefined) return await executions.execute(agent, options, key)
      using _place = executions.reserveWait(agent.agentId)
      const { execution_id } = await executions.execute(agent, options, key)
      await executions.ended(agent, execution_id, wait * 1000, clientSignal(reply))
      return streamed(reply, await executions.read(agent, execution_id, { execution_id }))
    },
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
    async handle({ agent, params, body, actor }) {
      const { executionId, nodeId } = params
      await executions.resume(agent, { executionId, nodeId, ...body, by: labelOf(actor) ?? 'anonymous' })
      return { success: true }
    },
  })
}
