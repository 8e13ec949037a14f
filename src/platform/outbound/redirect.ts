/** One request of an exchange: the first one, or one that a redirect leads to. */
export interface Hop {
  url: URL
  method: string
  headers: Headers
  /** The whole body, so that a redirect can send it again. */
  body: Uint8Array<ArrayBuffer> | null
}

const redirectStatuses = new Set([301, 302, 303, 307, 308])

const bodyHeaders = ['content-encoding', 'content-language', 'content-location', 'content-type']

/** Headers that usually carry credentials; they stay with the origin they were written for. */
const credentialHeaders = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'api-key',
  'x-api-key',
  'x-auth-token',
  'x-goog-api-key',
]

/** Returns the written target of a redirect; undefined for any other response. */
export function redirectLocation(answer: { status: number; headers: Headers }): string | undefined {
  const location = answer.headers.get('location')
  if (location === null || !redirectStatuses.has(answer.status)) return undefined
  // Header values arrive as one character for each byte, and names outside ASCII are sent as UTF-8.
  return Buffer.from(location, 'latin1').toString('utf8')
}

/**
 * Returns the request after a redirect to `url` with this status: POST turns into GET by the Fetch standard
 * (HTTP-redirect fetch), and credentials, with the headers named in `secretHeaders`, stay with their origin.
 */
export function redirectHop(hop: Hop, status: number, url: URL, secretHeaders: readonly string[]): Hop {
  const headers = new Headers(hop.headers)
  const isSafe = hop.method === 'GET' || hop.method === 'HEAD'
  const turnsIntoGet = status === 303 ? !isSafe : hop.method === 'POST' && (status === 301 || status === 302)
  const dropped = [
    ...(turnsIntoGet ? bodyHeaders : []),
    ...(url.origin === hop.url.origin ? [] : [...credentialHeaders, ...secretHeaders]),
  ]
  for (const name of dropped) headers.delete(name)
  return { url, method: turnsIntoGet ? 'GET' : hop.method, headers, body: turnsIntoGet ? null : hop.body }
}
