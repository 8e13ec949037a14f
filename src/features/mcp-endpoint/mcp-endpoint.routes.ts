import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { ChatFeature } from '#features/chat/chat.feature.ts'
import type { PaymentsFeature } from '#features/payments/payments.feature.ts'
import { AppError } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import type { SignalOf } from '#platform/http/closing.ts'
import { asKnownError } from '#platform/http/errors/error-format.ts'
import { overloaded } from '#platform/http/openapi/operation.ts'
import { answerContent, messageSchema, refusal } from './mcp-endpoint.schema.ts'
import { isQuestion, notAllowed, type Protocol, refusalOf } from './protocol.ts'
import { conversationOf, sessionHeader } from './session.ts'

const url = '/api/agents/:id/mcp/endpoint'
const agentPath = Type.Object({ id: Type.String() })
const tags = ['MCP']
const onlyPost = { 405: refusal('Always. Send messages with POST to the endpoint') }

interface Dependencies extends Pick<ChatFeature, 'askerInMcpSession'> {
  protocol: Protocol
  soldTo: PaymentsFeature['soldTo']
  callerSignal: SignalOf
}

type Path = `${typeof url}${'' | '/' | '/mcp' | '/mcp/' | '/sse'}`

export function registerMcpEndpointRoutes(app: App, dependencies: Dependencies): void {
  registerMessages(app, url, 'sendMcpMessage', dependencies)
  registerRefusal(app, 'GET', url, 'openMcpStream')
  registerRefusal(app, 'DELETE', url, 'endMcpSession')
  // Clients and guides often end an address in `/mcp`.
  registerMessages(app, `${url}/mcp`, 'sendMcpMessageBelow', dependencies)
  registerRefusal(app, 'GET', `${url}/mcp`, 'openMcpStreamBelow')
  registerRefusal(app, 'DELETE', `${url}/mcp`, 'endMcpSessionBelow')
  registerMessages(app, `${url}/`, 'sendMcpMessageAtSlash', dependencies)
  registerMessages(app, `${url}/mcp/`, 'sendMcpMessageBelowAtSlash', dependencies)
  // Clients of the transport before Streamable HTTP expect it here.
  registerRefusal(app, 'GET', `${url}/sse`, 'openMcpEvents')
  registerRefusal(app, 'POST', `${url}/sse`, 'sendMcpEvents')
}

const config = { area: 'generic', limit: 'general', stores: false, audit: 'exempt', chat: true } as const

function registerMessages(
  app: App,
  path: Path,
  operationId: string,
  { protocol, soldTo, askerInMcpSession, callerSignal }: Dependencies,
): void {
  app.route({
    method: 'POST',
    url: path,
    // A search stores nothing; a chat fails when it stores its question.
    config: { ...config, access: 'chatter', operationId },
    schema: {
      // The call is the same as without the slash.
      hide: path.endsWith('/'),
      summary: 'Send a message to the agent as an MCP server',
      description: 'One message of the protocol (Streamable HTTP).',
      tags,
      params: agentPath,
      body: messageSchema,
      response: {
        200: { description: 'The answer to a request', content: answerContent },
        202: { description: 'The notification was accepted', type: 'null' },
        400: refusal('The body is not a message of the protocol'),
        406: refusal('The header Accept must cover application/json'),
        503: overloaded('generic'),
      },
    },
    errorHandler: answerInJsonRpc,
    handler: async (request, reply) => {
      const caller = {
        agentId: request.params.id,
        conversationId: conversationOf(request),
        isAdmin: request.isAdmin,
        isChatOnly: request.isChatOnly,
        asker: askerInMcpSession(request),
        soldCalls: () => soldTo(request),
        countChat: () => reply.countAgainst('chat'),
      }
      const { body: message, headers } = request
      if (isQuestion(message)) reply.admitTurn()
      // The message is the handshake, in versions of the protocol that have sessions.
      if (Object(message).method === 'initialize') reply.header(sessionHeader, randomUUID())
      const signal = callerSignal(request, reply)
      return send(reply, await protocol.answer(caller, { message, headers, signal }))
    },
  })
}

function registerRefusal(app: App, method: 'GET' | 'POST' | 'DELETE', path: Path, operationId: string): void {
  const access = method === 'GET' ? 'viewer' : 'chatter'
  app.route({
    method,
    url: path,
    config: { ...config, access, operationId },
    schema: {
      summary: 'Reject a request that this MCP server does not support',
      description: 'There is no stream of notifications, no session to end, and no SSE transport.',
      tags,
      params: agentPath,
      response: onlyPost,
    },
    handler: async ({ params }, reply) =>
      send(
        reply.header('allow', path.endsWith('/sse') ? '' : 'POST'),
        notAllowed(url.replace(':id', params.id)),
      ),
  })
}

/** Forwards an answer: events as they arrive, other answers in one piece. */
async function send(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  reply.code(response.status)
  for (const name of ['content-type', 'cache-control', 'x-accel-buffering']) {
    const value = response.headers.get(name)
    if (value !== null) reply.header(name, value)
  }
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  return reply.send(isStream ? response.body : await response.text())
}

/** Answers problems of a body in the protocol's own form; others in the usual form. */
async function answerInJsonRpc(thrown: Error, _request: FastifyRequest, reply: FastifyReply) {
  const error = asKnownError(thrown)
  if (error instanceof AppError && error.status === 400) return send(reply, refusalOf(error))
  throw thrown
}
