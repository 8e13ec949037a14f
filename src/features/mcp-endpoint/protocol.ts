/** The only file that knows the protocol's library, which the first request loads that needs it. */
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
/** The first of an implementation's own codes. */
const serverError = -32_000

interface Dependencies {
  endpoint: McpEndpointService
  /** The name and version of this service. */
  service: { name: string; version: string }
  log: Log
}

/** A message in its HTTP form. */
export interface Incoming {
  message: unknown
  /** The request's headers; only those of the protocol and of content negotiation are used. */
  headers: NodeJS.Dict<string | string[]>
  /** Aborted when the client goes away. */
  signal: AbortSignal
}

/** Answers each message with a server of its own, without leaving a trace. */
export function createProtocol(dependencies: Dependencies) {
  const { log } = dependencies
  return {
    async answer(caller: Caller, { message, headers, signal }: Incoming): Promise<Response> {
      // Each message must count as one request; the protocol itself dropped batches in version 2025-06-18.
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
      // The library would mistake an error from here for its own failure.
      const about = await dependencies.endpoint.introduce(agentId)
      const handler = library.createMcpHandler(() => makeServer(library, dependencies, { caller, about }), {
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

/** Answers in JSON-RPC to a request that is no valid message. */
function refuse(status: number, code: number, message: string, id: unknown = null): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id }, { status })
}

/** Answers a request whose body was refused earlier. */
export function refusalOf({ code, status, message }: AppError): Response {
  return refuse(status, code === 'MALFORMED_JSON' ? parseError : invalidRequest, message)
}

/** Returns true if a message begins a turn of the agent. */
export function isQuestion(message: unknown): boolean {
  return matches(questionSchema, message)
}

/** Refuses other methods: there is no stream to open, no session to end, and no other transport. */
export const notAllowed = (path: string) =>
  refuse(
    405,
    serverError,
    `Method not allowed: send each message with POST to the URL that ends in ${path} (transport Streamable HTTP, not SSE).`,
  )

/** Selects headers, without tokens. The body is known to be JSON; without one, no header describes it. */
function protocolHeaders(headers: Incoming['headers']): Headers {
  const kept = Object.entries(headers).filter(([name]) => /^(accept|mcp-.*)$/.test(name))
  const texts = kept.map(([name, value]) => [name, [value ?? ''].flat().join(', ')])
  const accept = acceptable(String(headers.accept ?? '*/*'))
  return new Headers({ ...Object.fromEntries(texts), accept, 'content-type': 'application/json' })
}

/** Returns both types if the header covers them by RFC 9110 (12.5.1): the library compares texts. */
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

/** Returns the last event, which is the answer. */
async function withoutStream(response: Response): Promise<Response> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response
  // `.`, `^` and `$` would also split at Unicode's separators, which a text can contain.
  const lines = (await response.text()).split(/\r\n|\r|\n/)
  const answer = lines.findLast(line => line.startsWith('data:'))?.slice('data:'.length)
  return new Response(answer, { status: response.status, headers: { 'content-type': 'application/json' } })
}

/** Removes null parameters from the message, which some clients send for absent ones. */
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

/** Reports progress if the request named a token for it. Clients that ignore it are not our concern. */
function progressTo({ _meta, notify }: Library.ServerContext['mcpReq']): (message: string) => void {
  const progressToken = _meta?.progressToken
  if (progressToken === undefined) return () => {}
  let progress = 0
  return message => {
    progress += 1
    notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(() => {})
  }
}
