import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { invalid } from '../errors.ts'
import { type AddressPolicy, createAddressPolicy } from './address-policy.ts'
import { type Cookies, cookieHeader, createCookies } from './cookies.ts'
import type { GuardedAgent } from './guarded-agent.ts'
import { createGuardedResolver, type Resolve } from './guarded-resolver.ts'
import { createNameResolver } from './name-resolver.ts'
import { outboundFailed, toOutboundError } from './outbound-failure.ts'
import { accepted, readRequest } from './outgoing-request.ts'
import { type Hop, redirectHop, redirectLocation } from './redirect.ts'
import { decodeText, readBody } from './response-body.ts'
import { parseTarget } from './target-url.ts'

export interface OutboundOptions {
  /** Entries of OUTBOUND_ALLOW, see `parseAllowEntry`. */
  allow: readonly string[]
  /** The default User-Agent of requests. */
  userAgent: string
  /** Defaults to `createNameResolver`; tests bring their own. */
  resolve?: Resolve
}

export interface OutboundRequest extends Pick<RequestInit, 'headers' | 'body'> {
  /** Defaults to GET. */
  method?: string
  signal?: AbortSignal
  /** Max time of the whole exchange with redirects and body; defaults to 30 s. */
  timeoutMs?: number
  /** Max bytes of the body after decompression; defaults to 10 MiB. */
  maxBytes?: number
  /** Defaults to 5. */
  maxRedirects?: number
  /** Headers to hide from other origins, besides Authorization, Cookie and the usual key headers. */
  secretHeaders?: readonly string[]
}

export interface OutboundResponse {
  status: number
  headers: Headers
  /** The address of the response, after all redirects. */
  url: string
  body: Uint8Array<ArrayBuffer>
  /** Returns the body in the character set of its Content-Type, else UTF-8. */
  text(): string
}

/**
 * The only way to addresses from users, agents or pages. Both ways check each address after DNS and at every
 * redirect, and reject with OUTBOUND_REFUSED (the address, or the request, is not acceptable),
 * OUTBOUND_FAILED (no whole response came) or the reason of the caller's signal. Any status is a response.
 */
export interface Outbound {
  /** Reads a whole response within limits of time and size. */
  fetch(url: string | URL, request?: OutboundRequest): Promise<OutboundResponse>
  /**
   * Returns a `fetch` for libraries. Responses stream, with no limit of size and none of time but ten minutes
   * of silence: a caller that passes it on limits the exchange by its signal. Once streaming, a broken body
   * errors by the Fetch standard.
   */
  fetchFunction(options?: Pick<OutboundRequest, 'maxRedirects' | 'secretHeaders'>): typeof fetch
  /**
   * Connects for another protocol than HTTP, within 10 s; `isAllowed` is true if OUTBOUND_ALLOW names the
   * other end. The caller ends the socket. Rejects like `fetch`.
   */
  connect(hostname: string, port: number): Promise<{ socket: Socket; isAllowed: boolean }>
  /**
   * Refuses an address for later use in advance, and connects to nothing: a permitted one is checked again
   * when it is fetched. A failed or slow look-up is no refusal, because its cause might pass.
   * @param field the field with the address.
   * @throws AppError VALIDATION_ERROR for a text that is no http or https address, OUTBOUND_REFUSED
   */
  requirePermitted(url: string, field: string): Promise<void>
  /** Ends every connection; running exchanges fail. */
  close(): Promise<void>
}

interface Rules {
  redirect: Request['redirect']
  maxRedirects: number
  secretHeaders: readonly string[]
  signal: AbortSignal | undefined
}

const redirectLimit = 5

/** Max wait of a caller for the look-up of a name that is only checked (ms). */
const lookupMs = 3_000

export function createOutbound(options: OutboundOptions): Outbound {
  const policy = createAddressPolicy(options.allow)
  const permitted = permittedAddresses(policy, options.resolve)
  let agent: Promise<GuardedAgent> | undefined

  /** Loads undici on demand: it takes longer than the rest of this folder, and no start needs it. */
  function loadAgent(): Promise<GuardedAgent> {
    agent ??= import('./guarded-agent.ts').then(module => module.createGuardedAgent(permitted))
    return agent
  }

  async function exchange(first: Hop, rules: Rules): Promise<{ response: Response; url: URL }> {
    const { send } = await loadAgent()
    const cookies = createCookies()
    let hop = first
    for (let redirects = 0; ; redirects += 1) {
      const { url, method, body } = hop
      const init = { method, headers: withCookies(hop, cookies), body, signal: rules.signal ?? null }
      const response = await orFail(send(url, init), url, rules.signal)
      cookies.keep(url, response.headers)
      const location = redirectLocation(response)
      if (location === undefined || rules.redirect === 'manual') return { response, url }
      await response.body?.cancel().catch(() => undefined)
      if (rules.redirect === 'error') throw outboundFailed(url.host, 'it redirects, which is not followed')
      if (redirects === rules.maxRedirects) {
        throw outboundFailed(first.url.host, `it sends more redirects than the limit of ${redirects}`)
      }
      const target = accepted(parseTarget(location, url), `${url.host} redirects to an unusable address. `)
      hop = redirectHop(hop, response.status, target, rules.secretHeaders)
    }
  }

  return {
    async fetch(address, request = {}) {
      const { method = 'GET', headers = {}, body = null } = request
      const { maxRedirects = redirectLimit, secretHeaders = [] } = request
      const { timeoutMs = 30_000, maxBytes = 10 * 1024 * 1024 } = request
      const { hop } = await readRequest(address, { method, headers, body }, options.userAgent)
      const { host } = hop.url
      const deadline = new AbortController()
      const timer = setTimeout(() => {
        deadline.abort(outboundFailed(host, `no whole answer came within ${timeoutMs / 1000} s`))
      }, timeoutMs)
      const signal = AbortSignal.any([deadline.signal, ...(request.signal ? [request.signal] : [])])
      const rules: Rules = { redirect: 'follow', maxRedirects, secretHeaders, signal }
      try {
        const { response, url } = await exchange(hop, rules)
        const { status, headers } = response
        const body = await orFail(readBody(response.body, maxBytes), url, signal)
        if (body === undefined) throw outboundFailed(url.host, `its answer is larger than ${maxBytes} bytes`)
        const text = () => decodeText(body, headers.get('content-type'))
        return { status, headers, url: url.href, body, text }
      } finally {
        clearTimeout(timer)
      }
    },

    fetchFunction({ maxRedirects = redirectLimit, secretHeaders = [] } = {}) {
      return async (input, init = {}) => {
        const signal = init.signal ?? (input instanceof Request ? input.signal : undefined)
        const { hop, redirect } = await readRequest(input, init, options.userAgent)
        const { response } = await exchange(hop, { redirect, maxRedirects, secretHeaders, signal })
        return response
      }
    },

    async requirePermitted(address, field) {
      const { hostname, host } = addressOf(address, field)
      // Only URLs have brackets around an IPv6 address.
      const name = hostname.replace(/^\[(.*)\]$/, '$1')
      const waiting = new AbortController()
      const checked = permitted(name).catch(error => {
        const known = toOutboundError(error, host)
        if (known.code === 'OUTBOUND_REFUSED') throw known
      })
      const unknown = delay(lookupMs, undefined, { signal: waiting.signal }).catch(() => undefined)
      await Promise.race([checked, unknown]).finally(() => waiting.abort())
    },

    connect: connectBy(loadAgent, policy),
    close: async () => await (await agent)?.close(),
  }
}

function addressOf(text: string, field: string): URL {
  const target = parseTarget(text)
  const isOfWeb = /^https?:$/.test(URL.parse(text)?.protocol ?? '')
  if (!target.ok && !isOfWeb) throw invalid(field, target.reason)
  return accepted(target)
}

function connectBy(loadAgent: () => Promise<GuardedAgent>, policy: AddressPolicy): Outbound['connect'] {
  return async (hostname, port) => {
    const { connect } = await loadAgent()
    const socket = await connect(hostname, port).catch(error => {
      throw toOutboundError(error, hostname)
    })
    return { socket, isAllowed: policy.allows(socket.remoteAddress ?? '', hostname) }
  }
}

function permittedAddresses(policy: AddressPolicy, resolve: Resolve | undefined): Resolve {
  return createGuardedResolver({
    policy,
    resolve: resolve ?? createNameResolver({ isNamed: policy.names }),
  })
}

/** Adds the site's cookies, unless the caller has set some. */
function withCookies({ url, headers }: Hop, cookies: Cookies): [name: string, value: string][] {
  return [...headers, ...(headers.has('cookie') ? [] : Object.entries(cookieHeader(cookies, url)))]
}

/** Awaits a step of an exchange; its errors become the caller's own abort reason or an outbound error. */
function orFail<Result>(step: Promise<Result>, url: URL, signal: AbortSignal | undefined): Promise<Result> {
  return step.catch(error => {
    throw signal?.aborted ? signal.reason : toOutboundError(error, url.host)
  })
}
