import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '#platform/errors.ts'
import { clientSignal } from '#platform/http/closing.ts'
import { sandboxed } from '#platform/http/responses/headers.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Delivery } from './resources.schema.ts'

/** Max wait of a buyer for a workflow (s); after that, the same payment waits for the same run again. */
const maxWaitSeconds = 60
const retryAfterSeconds = 5
const json = 'application/json; charset=utf-8'

/** The workflows of agents, with the functions for sales. */
export interface SoldWorkflows {
  isActive(agent: AgentHandle, id: string): Promise<boolean>
  run(agent: AgentHandle, order: Order): Promise<{ execution_id: string; output: string | undefined }>
}

interface Order {
  workflow_id: string
  request: Pick<FastifyRequest, 'method' | 'query' | 'headers'>
  path: string
  /** The payment's key; undefined for callers who need not pay. */
  sale: string | undefined
  waitMs: number
  client: AbortSignal
  pass(): Promise<unknown>
}

/** Answers a request for a sold path. */
export async function deliver(
  workflows: SoldWorkflows,
  { path, deliver: sold }: { path: string; deliver: Delivery },
  [request, reply]: [FastifyRequest, FastifyReply],
): Promise<FastifyReply> {
  reply.headers(sandboxed)
  if ('body' in sold) return reply.type(withCharset(sold.content_type)).send(Buffer.from(sold.body))
  // A HEAD request changes nothing.
  if (request.method === 'HEAD') return reply.type(json).send()
  const { gate, agent } = request
  const pass = async () => await gate?.before()
  const waiting = { sale: gate?.key, waitMs: waitMsOf(request), client: clientSignal(reply), pass }
  const order = { workflow_id: sold.workflow_id, request, path, ...waiting }
  const { execution_id, output } = await workflows.run(agent, order).catch(error => {
    // Only a failed run uses the payment up.
    if (!(error instanceof AppError) || error.code !== 'WORKFLOW_FAILED') gate?.after('unfinished')
    throw error
  })
  if (output !== undefined) return reply.type(json).send(Buffer.from(output))
  gate?.after('unfinished')
  return reply.code(202).header('retry-after', retryAfterSeconds).send({ execution_id, status: 'running' })
}

/** Returns the wait that the caller prefers (RFC 7240), in milliseconds. */
function waitMsOf({ headers }: FastifyRequest): number {
  const [, seconds = maxWaitSeconds] =
    /(?:^|[,;\s])wait\s*=\s*(\d{1,9})\b/i.exec(String(headers.prefer)) ?? []
  return Math.min(Number(seconds), maxWaitSeconds) * 1000
}

function withCharset(type: string): string {
  return /^text\//i.test(type) && !/;\s*charset\s*=/i.test(type) ? `${type}; charset=utf-8` : type
}
