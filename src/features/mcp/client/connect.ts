import type * as Sdk from '@modelcontextprotocol/client'
import type { ToolParameters } from '#models/tools/tool.ts'
import { unmark } from '#platform/exact-json.ts'
import { orAborted } from '#platform/or-aborted.ts'
import { httpStatusOf, ServerFailure } from './failure.ts'
import { type AnswerBounds, createServerFetch, type ServerAddress } from './server-fetch.ts'

export interface ClientLimits extends AnswerBounds {
  /** Max time to connect to the server, both transports together (ms). */
  connectMs: number
  /** Max time for its list of tools, all pages together (ms). */
  listMs: number
  /** Max time without a sign of life during a call, and for the whole call (ms). */
  callMs: number
  maxCallMs: number
  maxPages: number
}

/** A call in its sent form: `parameters` is the schema that a person has approved. */
export interface OutgoingCall {
  name: string
  parameters: ToolParameters
  arguments: Record<string, unknown>
}

/** An established connection to one server. */
export interface Connection {
  /** True if the server keeps a session, which it can lose. */
  readonly hasSession: boolean
  /** True if the list of tools must be read before the next call: at first, and after possible changes. */
  hasNews: boolean
  isClosed(): boolean
  /** Passes each page to `take` until that returns false. @throws ServerFailure */
  listTools(take: (page: readonly unknown[]) => Promise<boolean>, signal: AbortSignal): Promise<void>
  /** Returns the result from the server. @throws ServerFailure, or ServerRefusal for the server's error. */
  callTool(call: OutgoingCall, signal: AbortSignal): Promise<unknown>
  /** Closes the connection, and ends the session on the server, if there is one. */
  close(): Promise<void>
}

/** A JSON-RPC error: the server has understood the call, and answers with this. `message` is the server's. */
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
  /** Aborts the attempt to connect. */
  closing: AbortSignal
}

type Transport = 'streamable HTTP' | 'SSE'

/** Max wait for the end of a session (ms). */
const farewellMs = 1000

/** Max number and speed of reopened event streams: a server can close them immediately, for ever. */
const maxStreams = 20
const streamPauseMs = { min: 250, max: 5000 }

/** Statuses of the first response that indicate a server with the older transport. */
const olderTransport = [400, 404, 405]

/** Connects over streamable HTTP, or SSE as a fallback. Throws ServerFailure, and `closing`'s reason. */
export async function connect(dependencies: Dependencies): Promise<Connection> {
  const sdk = await import('@modelcontextprotocol/client')
  const deadline = AbortSignal.any([AbortSignal.timeout(dependencies.limits.connectMs), dependencies.closing])
  try {
    return await open(sdk, dependencies, 'streamable HTTP', deadline)
  } catch (error) {
    if (!(error instanceof ServerFailure) || !olderTransport.includes(httpStatusOf(error.cause) ?? 0))
      throw error
    return await open(sdk, dependencies, 'SSE', deadline).catch((older: unknown) => {
      // For an address that supports neither, the answer to the newer transport is reported.
      throw older instanceof ServerFailure && httpStatusOf(older.cause) !== undefined ? error : older
    })
  }
}

async function open(
  sdk: typeof Sdk,
  dependencies: Dependencies,
  kind: Transport,
  deadline: AbortSignal,
): Promise<Connection> {
  const { server, limits, outboundFetch } = dependencies
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
  const client = createClient(sdk, dependencies.version, kind, news)
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
    dependencies.closing.throwIfAborted()
    throw new ServerFailure(deadline.aborted ? deadline.reason : error, way.observations)
  }
  // Read now because a closed connection has forgotten it.
  const hasTools = client.getServerCapabilities()?.tools !== undefined
  const fail = (error: unknown): never => {
    throw error instanceof ServerRefusal ? error : new ServerFailure(error, way.observations)
  }
  // Without the stream there are no more answers, and callers would wait in vain.
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
 * Creates a client without capabilities: no sampling, no elicitation, no roots. Schemas of servers are not
 * compiled because they are not trusted: results are accepted unchecked.
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
    const { min, max } = streamPauseMs
    const timer = setTimeout(reconnect, Math.min(Math.max(delay, min), max)).unref()
    return () => clearTimeout(timer)
  }
}

interface ToolPage {
  tools: readonly unknown[]
  nextCursor: string | undefined
}

/** Accepts any tools: each is parsed later, so that an invalid one does not affect the others. */
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
        // Otherwise the library would consult its own list, and sometimes fetch a new one.
        toolDefinition: { name: call.name, inputSchema: call.parameters as Sdk.Tool['inputSchema'] },
      },
    )
  } catch (error) {
    if (error instanceof sdk.ProtocolError) throw new ServerRefusal(error.message)
    throw error
  }
}
