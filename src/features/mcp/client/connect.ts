import type * as Sdk from '@modelcontextprotocol/client'
import type { ToolParameters } from '#models/tools/tool.ts'
import { orAborted } from '#platform/or-aborted.ts'
import { httpStatusOf, ServerFailure } from './failure.ts'
import type { AnswerBounds, ServerAddress } from './server-fetch.ts'
import { createServerFetch } from './server-fetch.ts'

export type CallResult = Sdk.CallToolResult

export interface ClientLimits extends AnswerBounds {
  /** Milliseconds for finding out how to speak with the server, both transports together. */
  connectMs: number
  /** Milliseconds for its list of tools, all pages together. */
  listMs: number
  /** Milliseconds without a sign of life from a call, and for a call as a whole. */
  callMs: number
  longestCallMs: number
  maxPages: number
}

/** A call as it is sent: `parameters` is the schema that a person has agreed to. */
export interface OutgoingCall {
  name: string
  parameters: ToolParameters
  arguments: Record<string, unknown>
}

/** An established connection to one server. */
export interface Connection {
  /** Whether the server remembers us, and so may forget us. */
  readonly hasSession: boolean
  /** Whether the list of tools is to be read before the next call: at first, and when it may have changed. */
  hasNews: boolean
  isClosed(): boolean
  /** Gives each page to `take` until that has enough. @throws ServerFailure */
  listTools(take: (page: readonly unknown[]) => boolean, signal: AbortSignal): Promise<void>
  /** @throws ServerFailure, or ServerRefusal when the server answers the call with an error. */
  callTool(call: OutgoingCall, signal: AbortSignal): Promise<CallResult>
  /** Tells the server too, where it keeps a session. */
  close(): Promise<void>
}

/** A JSON-RPC error: the server has understood the call, and answers it with that. `message` is the server's. */
export class ServerRefusal extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ServerRefusal'
  }
}

interface Needs {
  outboundFetch: typeof fetch
  server: ServerAddress
  limits: ClientLimits
  version: string
}

type Transport = 'streamable HTTP' | 'SSE'

/** How long the end of a session is waited for, in milliseconds. */
const farewellMs = 1000

/** How often, and how fast, one connection may open event streams anew; a server may end them at once, for ever. */
const mostStreams = 20
const streamPauseMs = { least: 250, most: 5000 }

/** Answers to the first message by which servers of the older transport are known. */
const olderTransport = [400, 404, 405]

/** Streamable HTTP, and SSE where the server does not know that. Throws ServerFailure. */
export async function connect(needs: Needs): Promise<Connection> {
  const sdk = await import('@modelcontextprotocol/client')
  const deadline = AbortSignal.timeout(needs.limits.connectMs)
  try {
    return await open(sdk, needs, 'streamable HTTP', deadline)
  } catch (error) {
    if (!(error instanceof ServerFailure) || !olderTransport.includes(httpStatusOf(error.cause) ?? 0))
      throw error
    return await open(sdk, needs, 'SSE', deadline).catch((older: unknown) => {
      // An address that knows neither is told as what it answered to the newer one.
      throw older instanceof ServerFailure && httpStatusOf(older.cause) !== undefined ? error : older
    })
  }
}

async function open(
  sdk: typeof Sdk,
  needs: Needs,
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
    throw new ServerFailure(deadline.aborted ? deadline.reason : error, way.observations)
  }
  // Asked for now: a connection that is closed has forgotten it.
  const hasTools = client.getServerCapabilities()?.tools !== undefined
  const fail = (error: unknown): never => {
    throw error instanceof ServerRefusal ? error : new ServerFailure(error, way.observations)
  }
  // Without its stream there are no answers any more, and whoever waits for one would wait in vain.
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
    callTool: (call, signal) => callTool(sdk, client, limits, call, signal).catch(fail),
    close: farewell,
  }
}

/**
 * A client that offers nothing: no sampling, no questions to people, no folders. Schemas of servers are not compiled, since
 * they are not trusted: what a tool answers is taken as it is.
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
    if (opened > mostStreams) return undefined
    const { least, most } = streamPauseMs
    const timer = setTimeout(reconnect, Math.min(Math.max(delay, least), most)).unref()
    return () => clearTimeout(timer)
  }
}

interface ToolPage {
  tools: readonly unknown[]
  nextCursor: string | undefined
}

/** Tools are read one by one afterwards, so that a bad one does not spoil the others. */
const toolPageSchema: Sdk.StandardSchemaV1<unknown, ToolPage> = {
  '~standard': {
    version: 1,
    vendor: 'agentstead',
    validate(value) {
      const { tools, nextCursor } = (value ?? {}) as Record<string, unknown>
      if (!Array.isArray(tools)) return { issues: [{ message: 'tools is not a list' }] }
      return { value: { tools, nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined } }
    },
  },
}

async function listTools(
  client: Sdk.Client,
  { listMs, maxPages }: ClientLimits,
  take: (page: readonly unknown[]) => boolean,
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
    if (!take(page.tools) || cursor === undefined || seen.has(cursor)) return
    seen.add(cursor)
  }
}

async function callTool(
  sdk: typeof Sdk,
  client: Sdk.Client,
  { callMs, longestCallMs }: ClientLimits,
  call: OutgoingCall,
  signal: AbortSignal,
): Promise<CallResult> {
  try {
    return await client.callTool(
      { name: call.name, arguments: call.arguments },
      {
        signal,
        timeout: callMs,
        maxTotalTimeout: longestCallMs,
        resetTimeoutOnProgress: true,
        onprogress: () => {},
        // Without it the library would look into its own list, and fetch a new one when in doubt.
        toolDefinition: { name: call.name, inputSchema: call.parameters as Sdk.Tool['inputSchema'] },
      },
    )
  } catch (error) {
    if (error instanceof sdk.ProtocolError) throw new ServerRefusal(error.message)
    throw error
  }
}
