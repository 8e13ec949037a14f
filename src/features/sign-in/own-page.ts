import type { FastifyRequest } from 'fastify'
import { isLoopback } from '#platform/network.ts'

/** The origins of our own pages: that of BASE_URL, and without one, or on this machine, the one that the request names. */
function ownOrigins({ host, hostname, protocol }: FastifyRequest, baseUrl: string | undefined): string[] {
  const base = URL.parse(baseUrl ?? '')?.origin
  // Behind a proxy that is not trusted, the protocol is not known. A page over http is never ours where the service has https.
  const byHost =
    base === undefined || isLoopback(hostname) ? [`${protocol}://${host}`, `https://${host}`] : []
  return base === undefined ? byHost : [base, ...byHost]
}

/**
 * Whether a page of ours, or the address bar, sends the request: cookies are sent along by pages of other programs of this machine,
 * too. A request without `Origin` or `Sec-Fetch-Site` does not count: these are of old browsers.
 */
export function isOfOwnPage(request: FastifyRequest, baseUrl: string | undefined): boolean {
  const { origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = request.headers
  if (origin !== undefined) return ownOrigins(request, baseUrl).includes(origin)
  return site === 'same-origin' || (site === 'none' && mode === 'navigate' && request.method === 'GET')
}

/** Whether a page that is not ours sends the request; programs name no page. */
export function isOfForeignPage(request: FastifyRequest, baseUrl: string | undefined): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers
  return (origin !== undefined || site !== undefined) && !isOfOwnPage(request, baseUrl)
}

/** The service's address as its caller sees it. */
export function addressFor(
  { protocol, host, hostname, server }: FastifyRequest,
  baseUrl: string | undefined,
): string {
  if (baseUrl !== undefined) return baseUrl
  return isLoopback(hostname) || !server.server.listening ? `${protocol}://${host}` : server.listeningOrigin
}

/** Whether it is a path of this service, which no browser takes for another site's. */
export function isOwnPath(path: string): boolean {
  if (!/^\/(?![/\\]|%2f|%5c)[\x21-\x5b\x5d-\x7e]*$/i.test(path)) return false
  const url = URL.parse(path, 'http://here.invalid')
  return url?.origin === 'http://here.invalid' && !url.pathname.startsWith('//')
}
