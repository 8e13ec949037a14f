/** The only file that knows the protocol's library, which is loaded by the first request that needs it. */
import type * as Library from '@modelcontextprotocol/server'
import { AppError } from '#platform/errors.ts'
import type { Log } from '#platform/logging/log.ts'
import { matches, problemOf } from '#platform/schema-check.ts'
import { paramsSchema, questionSchema } from './mcp-endpoint.schema.ts'
import type { Caller, McpEndpointService } from './mcp-endpoint.service.ts'

/** Codes of JSON-RPC 2.0, section 5.1. */
const parseError = -32_700
const invalidRequest = -32_600
const invalidParams = -32_602
/** From there on an implementation's own. */
const serverError = -32_000

interface Dependencies {
  endpoint: McpEndpointService
  /** How this service calls itself. */
  service: { name: string; version: string }
  log: Log
}

/** A message as it came over HTTP. */
export interface Incoming {
  message: unknown
  /** Those of the request; the protocol's own and what negotiates the form of the answer are looked at. */
  headers: NodeJS.Dict<string | string[]>
  /** Aborted when the client goes away. */
  signal: AbortSignal
}

/** Answers each message with a server of its own, and nothing is left behind. */
export function createProtocol(needs: Dependencies) {
  const { log } = needs
  return {
    async answer(caller: Caller, { message, headers, signal }: Incoming): Promise<Response> {
      // Each message is to count as one request; the protocol itself gave batches up in its version 2025-06-18.
      if (Array.isArray(message))
        return refuse(400, invalidRequest, 'Send one message at a time: batches are not accepted here.')
      const incoming = withoutNulls(message)
      const problem = problemOf(paramsSchema, Object(incoming))
      if (problem !== undefined)
        return refuse(
          200,
          invalidParams,
          `Invalid params: ${problem.field} ${problem.issue}.`,
          Object(incoming).id,
        )
      const library = await import('@modelcontextprotocol/server')
      const { agentId } = caller
      // An error from here the library would take for a failure of its own.
      const about = await needs.endpoint.introduce(agentId)
      const handler = library.createMcpHandler(() => makeServer(library, needs, { caller, about }), {
        onerror: error => log.debug({ err: error, agentId }, 'an MCP message was refused'),
      })
      const request = new Request('http://endpoint/', {
        method: 'POST',
        headers: protocolHeaders(headers),
        signal,
      })
      const response = await handler.fetch(request, { parsedBody: incoming })
      return takesStreams(headers) ? response : withoutStream(response)
    },
  }
}

export type Protocol = ReturnType<typeof createProtocol>

/** An answer in JSON-RPC to what could not be taken as a message at all. */
function refuse(status: number, code: number, message: string, id: unknown = null): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id }, { status })
}

/** A body that was refused before it came here. */
export function refusalOf({ code, status, message }: AppError): Response {
  return refuse(status, code === 'MALFORMED_JSON' ? parseError : invalidRequest, message)
}

/** Whether a message begins a turn of the agent. */
export function isQuestion(message: unknown): boolean {
  return matches(questionSchema, message)
}

/** There is no stream to be opened, nothing of a session to be ended, and no other transport. */
export const notAllowed = (path: string) =>
  refuse(
    405,
    serverError,
    `Method not allowed: send each message with POST to the URL that ends in ${path} (transport Streamable HTTP, not SSE).`,
  )

/** Tokens stay outside. The body has been checked to be JSON; without a body, no header says what it is. */
function protocolHeaders(headers: Incoming['headers']): Headers {
  const kept = Object.entries(headers).filter(([name]) => /^(accept|mcp-.*)$/.test(name))
  const texts = kept.map(([name, value]) => [name, [value ?? ''].flat().join(', ')])
  const accept = acceptable(String(headers.accept ?? '*/*'))
  return new Headers({ ...Object.fromEntries(texts), accept, 'content-type': 'application/json' })
}

/** The library compares texts: it is sent both types where media types as RFC 9110 (12.5.1) reads them cover them. */
function acceptable(accept: string): string {
  const ranges = accept
    .toLowerCase()
    .split(',')
    .filter(range => !/;\s*q=0(\.0*)?\s*$/.test(range))
  const named = ranges.map(range => range.split(';')[0]?.trim() ?? '')
  const isCovered = named.some(range => ['*/*', 'application/*', 'application/json'].includes(range))
  return isCovered ? 'application/json, text/event-stream' : accept
}

function takesStreams({ accept = '*/*' }: Incoming['headers']): boolean {
  return /text\/(event-stream|\*)|\*\/\*/i.test(String(accept))
}

/** The last event is the answer. */
async function withoutStream(response: Response): Promise<Response> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response
  // Not by `.`, `^` and `$`, which take the separators of Unicode for ends of lines: a text may hold them.
  const lines = (await response.text()).split(/\r\n|\r|\n/)
  const answer = lines.findLast(line => line.startsWith('data:'))?.slice('data:'.length)
  return new Response(answer, { status: response.status, headers: { 'content-type': 'application/json' } })
}

/** The message without members of its parameters that are null, which some clients send for absent ones. */
function withoutNulls(message: unknown): unknown {
  const { params, ...rest } = Object(message)
  if (params === undefined) return message
  if (params === null) return rest
  if (typeof params !== 'object' || Array.isArray(params)) return message
  return { ...rest, params: Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null)) }
}

interface Introduced {
  caller: Caller
  about: { name: string; description: string }
}

function makeServer(
  library: typeof Library,
  { endpoint, service, log }: Dependencies,
  { caller, about: { name, description } }: Introduced,
) {
  const server = new library.Server(
    { ...service, title: name },
    { capabilities: { tools: {} }, ...(description === '' ? {} : { instructions: description }) },
  )
  const orProtocolError = <Result>(work: Promise<Result>) =>
    work.catch(error => {
      if (!(error instanceof AppError))
        log.error({ err: error, agentId: caller.agentId }, 'an MCP request failed')
      const message = error instanceof AppError ? error.message : 'Something went wrong on the server.'
      const { InvalidParams, InternalError } = library.ProtocolErrorCode
      const isCallers = error instanceof AppError && error.fault === 'user'
      throw new library.ProtocolError(isCallers ? InvalidParams : InternalError, message)
    })
  server.setRequestHandler('tools/list', async () => ({
    tools: (await orProtocolError(endpoint.list(caller))) as Library.Tool[],
  }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const { name: tool, arguments: input = {} } = params
    const call = { signal: mcpReq.signal, progress: progressTo(mcpReq) }
    const result = await orProtocolError(endpoint.call(caller, { name: tool, input }, call))
    if (result !== undefined) return result
    const { InvalidParams } = library.ProtocolErrorCode
    throw new library.ProtocolError(InvalidParams, `There is no tool named ${tool}. See tools/list.`)
  })
  return server
}

/** Reports progress, if the request has named a token for that. A client that hears nothing is none of our concern. */
function progressTo({ _meta, notify }: Library.ServerContext['mcpReq']): (message: string) => void {
  const progressToken = _meta?.progressToken
  if (progressToken === undefined) return () => {}
  let progress = 0
  return message => {
    progress += 1
    notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(() => {})
  }
}
