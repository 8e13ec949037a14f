/**
 * The power of web pages of other sites over the browsers of their visitors. A browser names the page's origin in
 * `Origin`, and in `Host` the name by which it found this server; no script can change either.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { AccessDenied } from '#platform/errors.ts'
import { isLoopback } from '#platform/network.ts'
import type { Identify } from './caller.ts'
import { isCrossOrigin } from './cross-origin.ts'
import type { PublicAccess } from './policy.ts'

/** The permission of requests on the agent `default` without a role on it. */
export type PublicAccessOf = (request: FastifyRequest) => PublicAccess | Promise<PublicAccess>

/** Limits web pages on a service that is open to all users of its machine. */
export function lessForPages(baseUrl: string | undefined): (request: FastifyRequest) => PublicAccess {
  const base = URL.parse(baseUrl ?? '')
  return ({ headers }) => (isForeignPage(headers, base) ? 'page' : 'full')
}

/** Returns true for a page of another site, also if its host name points at our address (DNS rebinding). */
function isForeignPage({ host, origin }: IncomingHttpHeaders, base: URL | null): boolean {
  const name = URL.parse(`http://${host}`)
  const page = origin === undefined ? name : URL.parse(origin)
  const isOurName = name !== null && (isLoopback(name.hostname) || name.host === base?.host)
  const isOurPage =
    page !== null && (page === name || isLoopback(page.hostname) || page.origin === base?.origin)
  return !isOurName || !isOurPage
}

const forged =
  'Access denied: a web page of another site may change nothing in the name of a signed-in person. ' +
  "Use the service's own address; if that is not the one that it is reached by, set BASE_URL."

/**
 * Gateways identify people by a cookie, which browsers also send from other sites: requests that change something are refused
 * if a page of another site could have sent them. `header` carries the gateway's token.
 */
export function refuseOtherSites(identify: Identify, header: string, baseUrl: string | undefined): Identify {
  const ownOrigin = URL.parse(baseUrl ?? '')?.origin
  const isBearer = header.toLowerCase() === 'authorization'

  function mayBeForged(request: FastifyRequest): boolean {
    const { method, headers } = request
    const isForeign = isCrossOrigin(headers) && headers.origin !== ownOrigin
    // Pages can open WebSockets to any host and read the messages, without a preflight.
    if (headers.upgrade !== undefined) return isForeign
    if (method === 'GET' || method === 'HEAD') return false
    return (isForeign || headers['sec-fetch-site'] === 'cross-site') && !(isBearer && hadPreflight(request))
  }

  return request => {
    const found = identify(request)
    if (!mayBeForged(request)) return found
    return Promise.resolve(found).then(caller => {
      if (caller !== undefined) throw new AccessDenied(forged)
      return caller
    })
  }
}

/**
 * Returns whether browsers sent a preflight before this request. Our response allows no cookies, so a script must have added
 * the token itself; other requests can carry a token that a proxy made from a cookie.
 */
function hadPreflight({ method, headers }: FastifyRequest): boolean {
  return method !== 'POST' || /^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')
}
