import type { FastifyRequest } from 'fastify'
import { isLoopback } from '#platform/network.ts'

/** Returns the origins of our own pages: that of BASE_URL, and without one, or on this machine, that of the request. */
function ownOrigins({ host, hostname, protocol }: FastifyRequest, baseUrl: string | undefined): string[] {
  const base = URL.parse(baseUrl ?? '')?.origin
  // Behind an untrusted proxy the protocol is unknown. A page over http is never ours if the service has https.
  const byHost =
    base === undefined || isLoopback(hostname) ? [`${protocol}://${host}`, `https://${host}`] : []
  return base === undefined ? byHost : [base, ...byHost]
}

/**
 * Returns whether a page of ours, or the address bar, sends the request: pages of other programs of this machine also send
 * cookies. A request without `Origin` or `Sec-Fetch-Site`, as old browsers send, does not count.
 */
export function isOfOwnPage(request: FastifyRequest, baseUrl: string | undefined): boolean {
  const { origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = request.headers
  if (origin !== undefined) return ownOrigins(request, baseUrl).includes(origin)
  return site === 'same-origin' || (site === 'none' && mode === 'navigate' && request.method === 'GET')
}

/** Returns whether a page of another site sends the request; programs name no page. */
export function isOfForeignPage(request: FastifyRequest, baseUrl: string | undefined): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers
  return (origin !== undefined || site !== undefined) && !isOfOwnPage(request, baseUrl)
}

/** Returns the service's address as its caller sees it. */
export function addressFor(
  { protocol, host, hostname, server }: FastifyRequest,
  baseUrl: string | undefined,
): string {
  if (baseUrl !== undefined) return baseUrl
  return isLoopback(hostname) || !server.server.listening ? `${protocol}://${host}` : server.listeningOrigin
}

/** Returns whether the text is a path of this service that no browser resolves to another site. */
export function isOwnPath(path: string): boolean {
  if (!/^\/(?![/\\]|%2f|%5c)[\x21-\x5b\x5d-\x7e]*$/i.test(path)) return false
  const url = URL.parse(path, 'http://here.invalid')
  return url?.origin === 'http://here.invalid' && !url.pathname.startsWith('//')
}
