import { AppError } from '../errors.ts'
import type { Hop } from './redirect.ts'
import { parseTarget, type Target } from './target-url.ts'

/** Headers that describe our connection: those of a caller would only break or confuse it. */
const connectionHeaders = [
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]

/** Checks the written address; then the platform's Request reads all possible forms of a body. */
export async function readRequest(
  input: string | URL | Request,
  init: RequestInit,
  userAgent: string,
): Promise<{ hop: Hop; redirect: Request['redirect'] }> {
  const url = accepted(parseTarget(input instanceof Request ? input.url : input))
  const request = newRequest(input instanceof Request ? input : url, init)
  const headers = new Headers(request.headers)
  for (const name of connectionHeaders) headers.delete(name)
  if (!headers.has('user-agent')) headers.set('user-agent', userAgent)
  const body = request.body === null ? null : new Uint8Array(await request.arrayBuffer())
  return { hop: { url, method: request.method, headers, body }, redirect: request.redirect }
}

function newRequest(input: URL | Request, init: RequestInit): Request {
  try {
    // No signal, which is for the exchange: each Request would add a listener to a long-lived one.
    return new Request(input, { ...init, signal: null })
  } catch {
    // The platform's message quotes header values, which can be secrets.
    throw new AppError(
      'OUTBOUND_REFUSED',
      'The request cannot be sent: its method, headers or body are not valid HTTP.',
    )
  }
}

/** Throws OUTBOUND_REFUSED for an unacceptable address; `context` goes before the reason. */
export function accepted(target: Target, context = ''): URL {
  if (!target.ok) throw new AppError('OUTBOUND_REFUSED', context + target.reason)
  return target.url
}
