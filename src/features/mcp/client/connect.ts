import type * as Sdk from '@modelcontextprotocol/client'
import type { ToolParameters } from '#models/tools/tool.ts'
import { unmark } from '#platform/exact-json.ts'
import { orAborted } from '#platform/or-aborted.ts'
import { httpStatusOf, ServerFailure } from './failure.ts'
import type { AnswerBounds, ServerAddress } from './server-fetch.ts'
import { createServerFetch } from './server-fetch.ts'

export interface ClientLimits extends AnswerBounds {
  /** Milliseconds for connecting to the server, both transports together. */
  connectMs: number
  /** Milliseconds for its list of tools, all pages together. */
  listMs: number
  /** Milliseconds without a sign of life during a call, and for a call as a whole. */
  callMs: number
  maxCallMs: number
  maxPages: number
}

/** A call as it is sent: `parameters` is the schema that a person has approved. */
export interface OutgoingCall {
  name: string
  parameters: ToolParameters
  arguments: Record<string, unknown>
}

/** An established connection to one server. */
export interface Connection {
  /** Whether the server keeps a session, which it may lose. */
  readonly hasSession: boolean
  /** Whether the list of tools has to be read before the next call: at first, and when it may have changed. */
  hasNews: boolean
  isClosed(): boolean
  /** Passes each page to `take` until that wants no more. @throws ServerFailure */
  listTools(take: (page: readonly unknown[]) => Promise<boolean>, signal: AbortSignal): Promise<void>
  /** The result as the server sent it. @throws ServerFailure, or ServerRefusal if the server answers the call with an error. */
  callTool(call: OutgoingCall, signal: AbortSignal): Promise<unknown>
  /** Also ends the session on the server, if there is one. */
  close(): Promise<void>
}

/** A JSON-RPC error: the server has understood the call, and answers with this error. `message` is the server's. */
export class ServerRefusal extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ServerRefusal'
  }
}

interface Dependencies {
  outboundFetch: typeof fetch
  server: ServerAddress
  limits: ClientLimits
  version: string
  /** Ends the attempt to connect. */
  closing: AbortSignal
}

type Transport = 'streamable HTTP' | 'SSE'

/** How long to wait for the end of a session, in milliseconds. */
const farewellMs = 1000

/** How often, and how fast, one connection may reopen event streams; a server may close them immediately, for ever. */
const maxStreams = 20
const streamPauseMs = { least: 250, most: 5000 }

/** Statuses of the first response that indicate a server with the older transport. */
const olderTransport = [400, 404, 405]

/** Connects over streamable HTTP, or SSE if the server does not support that. Throws ServerFailure, and the reason of `closing`. */
export async function connect(needs: Dependencies): Promise<Connection> {
  const sdk = await import('@modelcontextprotocol/client')
  const deadline = AbortSignal.any([AbortSignal.timeout(needs.limits.connectMs), needs.closing])
  try {
    return await open(sdk, needs, 'streamable HTTP', deadline)
  } catch (error) {
    if (!(error instanceof ServerFailure) || !olderTransport.includes(httpStatusOf(error.cause) ?? 0))
      throw error
    return await open(sdk, needs, 'SSE', deadline).catch((older: unknown) => {
      // For an address that supports neither, the answer to the newer transport is reported.
      throw older instanceof ServerFailure && httpStatusOf(older.cause) !== undefined ? error : older
    })
  }
}

async function open(
  sdk: typeof Sdk,
  needs: Dependencies,
  kind: Transport,
  deadline: AbortSignal,
): Promise<Connection> {
  const { server, limits, outboundFetch } = needs
  const lifetime = new AbortController()
  const way = createServerFetch({
    outboundFetch,
    server,
    bounds: limits,
    signal: lifetime.signal,
    opensOneStream: kind === 'SSE',
  })
  const state = { hasNews: true, isClosed: false }
  const news = () => {
    state.hasNews = true
  }
  const transport =
    kind === 'SSE'
      ? new sdk.SSEClientTransport(server.url, { fetch: way.fetch })
      : new sdk.StreamableHTTPClientTransport(server.url, {
          fetch: way.fetch,
          reconnectionScheduler: boundedReconnections(news),
        })
  const client = createClient(sdk, needs.version, kind, news)
  const end = async () => {
    state.isClosed = true
    await client.close().catch(() => undefined)
    await transport.close().catch(() => undefined)
    lifetime.abort()
  }
  client.onclose = () => {
    state.isClosed = true
  }
  try {
    await orAborted(client.connect(transport, { timeout: limits.connectMs }), deadline)
  } catch (error) {
    await end()
    needs.closing.throwIfAborted()
    throw new ServerFailure(deadline.aborted ? deadline.reason : error, way.observations)
  }
  // Read now: a closed connection has forgotten it.
  const hasTools = client.getServerCapabilities()?.tools !== undefined
  const fail = (error: unknown): never => {
    throw error instanceof ServerRefusal ? error : new ServerFailure(error, way.observations)
  }
  // Without its stream there are no more answers, and callers would wait for one in vain.
  if (kind === 'SSE') client.onerror = error => error instanceof sdk.SseError && void end()
  const farewell = async () => {
    if (transport instanceof sdk.StreamableHTTPClientTransport)
      await orAborted(transport.terminateSession(), AbortSignal.timeout(farewellMs)).catch(() => undefined)
    await end()
  }
  return {
    hasSession:
      !(transport instanceof sdk.StreamableHTTPClientTransport) || transport.sessionId !== undefined,
    get hasNews() {
      return state.hasNews
    },
    set hasNews(value) {
      state.hasNews = value
    },
    isClosed: () => state.isClosed,
    async listTools(take, signal) {
      if (hasTools) await listTools(client, limits, take, signal).catch(fail)
    },
    callTool: async (call, signal) =>
      way.takeResult(await callTool(sdk, client, limits, call, signal).catch(fail)),
    close: farewell,
  }
}

/**
 * A client without capabilities: no sampling, no elicitation, no roots. Schemas of servers are not compiled, since they
 * are not trusted: results are accepted unchecked.
 */
function createClient(sdk: typeof Sdk, version: string, kind: Transport, onToolsChanged: () => void) {
  return new sdk.Client(
    { name: 'agentstead', version },
    {
      capabilities: {},
      jsonSchemaValidator: {
        getValidator: () => value => ({ valid: true, data: value as never, errorMessage: undefined }),
      },
      inputRequired: { autoFulfill: false },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onToolsChanged } },
      ...(kind === 'SSE' ? {} : { versionNegotiation: { mode: 'auto' } }),
    },
  )
}

function boundedReconnections(onBreak: () => void): Sdk.ReconnectionScheduler {
  let opened = 0
  return (reconnect, delay) => {
    onBreak()
    opened += 1
    if (opened > maxStreams) return undefined
    const { least, most } = streamPauseMs
    const timer = setTimeout(reconnect, Math.min(Math.max(delay, least), most)).unref()
    return () => clearTimeout(timer)
  }
}

interface ToolPage {
  tools: readonly unknown[]
  nextCursor: string | undefined
}

/** Tools are parsed one by one afterwards, so that an invalid one does not affect the others. */
const toolPageSchema: Sdk.StandardSchemaV1<unknown, ToolPage> = {
  '~standard': {
    version: 1,
    vendor: 'agentstead',
    validate(value) {
      const { tools, nextCursor } = Object(value)
      if (!Array.isArray(tools ?? [])) return { issues: [{ message: 'tools is not a list' }] }
      const isMore = typeof nextCursor === 'string' && nextCursor !== ''
      return { value: { tools: tools ?? [], nextCursor: isMore ? nextCursor : undefined } }
    },
  },
}

async function listTools(
  client: Sdk.Client,
  { listMs, maxPages }: ClientLimits,
  take: (page: readonly unknown[]) => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  const seen = new Set<string>()
  let cursor: string | undefined
  for (let pages = 0; pages < maxPages; pages += 1) {
    const params = cursor === undefined ? {} : { cursor }
    const page: ToolPage = await client.request({ method: 'tools/list', params }, toolPageSchema, {
      timeout: listMs,
      signal,
    })
    cursor = page.nextCursor
    if (!(await take(unmark(page.tools))) || cursor === undefined || seen.has(cursor)) return
    seen.add(cursor)
  }
}

async function callTool(
  sdk: typeof Sdk,
  client: Sdk.Client,
  { callMs, maxCallMs }: ClientLimits,
  call: OutgoingCall,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await client.callTool(
      { name: call.name, arguments: call.arguments },
      {
        signal,
        timeout: callMs,
        maxTotalTimeout: maxCallMs,
        resetTimeoutOnProgress: true,
        onprogress: () => {},
        // Otherwise the library would consult its own list, and fetch a new one when in doubt.
        toolDefinition: { name: call.name, inputSchema: call.parameters as Sdk.Tool['inputSchema'] },
      },
    )
  } catch (error) {
    if (error instanceof sdk.ProtocolError) throw new ServerRefusal(error.message)
    throw error
  }
}
