import { AppError } from '#platform/errors.ts'
import { hasMoreValuesThan } from '#platform/json-values.ts'
import { outboundFailed, toOutboundError } from '#platform/outbound/outbound-failure.ts'
import { readBody } from '#platform/outbound/response-body.ts'
import { createCallResults } from './call-results.ts'
import { withData } from './event-data.ts'
import { type StreamBounds, type StreamEnd, wholeEvents } from './whole-events.ts'

/** A server's address, and the token that only it gets. */
export interface ServerAddress {
  url: URL
  token: string | undefined
}

export interface AnswerBounds extends StreamBounds {
  /** Max bytes of an answer that is not an event stream. */
  maxAnswerBytes: number
}

/** Observations during the use of one connection. */
export interface Observations {
  /** The last status of a refusal; `wantsOauth` is true if the refusal mentions OAuth. */
  refusal?: { status: number; wantsOauth: boolean }
  /** The last error of an exchange because the libraries above might lose it. */
  trouble?: AppError
}

/** An unusable answer. */
export class UselessAnswer extends AppError {
  constructor(host: string, reason: string) {
    super('OUTBOUND_FAILED', `The request to ${host} failed: ${reason}.`)
  }
}

interface Dependencies {
  /** The guard's `fetch`. */
  outboundFetch: typeof fetch
  server: ServerAddress
  bounds: AnswerBounds
  /** Ends every exchange. */
  signal: AbortSignal
  /** True to answer a second event stream with "no more": otherwise its reader would reopen it for ever. */
  opensOneStream: boolean
}

const maxErrorBytes = 64 * 1024

/**
 * Creates the only way to a server: to its registered origin, with its token, without following redirects,
 * with limits on the answer. The library above follows redirects within the origin, through this again.
 */
export function createServerFetch(dependencies: Dependencies) {
  const { server, signal, bounds } = dependencies
  const observations: Observations = {}
  const results = createCallResults()
  let streams = 0

  async function exchange(address: URL, init: RequestInit): Promise<Response> {
    if (address.origin !== server.url.origin)
      throw new UselessAnswer(server.url.host, 'it names another server to go on with, which is not followed')
    const headers = new Headers(init.headers)
    if (server.token !== undefined) headers.set('authorization', `Bearer ${server.token}`)
    const signals = [signal, init.signal, results.sent(init.body)].filter(one => one != null)
    const request = { ...init, headers, redirect: 'manual' as const, signal: AbortSignal.any(signals) }
    const response = await dependencies.outboundFetch(address, request).catch(error => {
      throw request.signal.aborted ? request.signal.reason : error
    })
    if (response.status === 401 || response.status === 403) observations.refusal = refusalOf(response)
    return bounded(response, request.signal, requestIdOf(init))
  }

  async function bounded(response: Response, ended: AbortSignal, requestId: unknown): Promise<Response> {
    const { status, headers, body } = response
    const isRedirect = status >= 300 && status < 400
    if (body === null || isRedirect || [202, 204, 205].includes(status)) {
      await body?.cancel().catch(() => undefined)
      return new Response(null, { status, headers })
    }
    const host = server.url.host
    if (response.ok && /^text\/event-stream/i.test(headers.get('content-type') ?? '')) {
      const lastWords = (end: StreamEnd, isResumable: boolean) => {
        // An end on our side is not a failure.
        if (end !== 'ended' && !ended.aborted) observations.trouble = streamFailure(host, end)
        return requestId === undefined || (isResumable && end !== 'too large' && !ended.aborted)
          ? undefined
          : errorEvent(requestId, streamFailure(host, end).message)
      }
      const events = withData(wholeEvents(body, bounds, lastWords), results.read)
      return new Response(ReadableStream.from(events), { status, headers })
    }
    const limit = response.ok ? bounds.maxAnswerBytes : maxErrorBytes
    const content = await readBody(body, limit).catch(error => {
      throw ended.aborted ? ended.reason : toOutboundError(error, host)
    })
    const isTooLarge = content === undefined || hasMoreValuesThan(content, bounds.maxValues)
    if (isTooLarge && response.ok) throw tooLarge(host)
    return new Response(content && results.read(new TextDecoder().decode(content)), { status, headers })
  }

  async function fetchFromServer(input: string | URL, init: RequestInit = {}): Promise<Response> {
    const isStream = (init.method ?? 'GET') === 'GET'
    streams += isStream ? 1 : 0
    if (isStream && streams > 1 && dependencies.opensOneStream) return new Response(null, { status: 204 })
    return exchange(new URL(input), init).catch(error => {
      if (error instanceof AppError) observations.trouble = error
      throw error
    })
  }

  return { fetch: fetchFromServer, observations, takeResult: results.take }
}

function refusalOf(response: Response): NonNullable<Observations['refusal']> {
  const challenge = response.headers.get('www-authenticate') ?? ''
  return {
    status: response.status,
    wantsOauth: /resource_metadata|scope=|authorization_uri/i.test(challenge),
  }
}

function tooLarge(host: string): AppError {
  return new UselessAnswer(host, 'its answer is larger than an MCP server may send')
}

function streamFailure(host: string, end: StreamEnd): AppError {
  return end === 'too large' ? tooLarge(host) : outboundFailed(host, 'it closed the connection early')
}

/** Returns the id of the JSON-RPC request in the body; undefined for anything else. */
function requestIdOf({ body }: RequestInit): unknown {
  return typeof body === 'string' ? (JSON.parse(body) as { id?: unknown }).id : undefined
}

/** Returns an event that settles an unanswered request; the library above would wait until its timeout. */
function errorEvent(id: unknown, message: string): string {
  return `data: ${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_000, message } })}\n\n`
}
