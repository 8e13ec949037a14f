import type { FastifyReply, FastifyRequest } from 'fastify'
import { isOfOpenAi } from '../access.ts'
import type { App } from '../app.ts'

/** Scripts of any origin may call with these, but not send data that a browser stores, such as cookies. */
const allowedMethods = 'GET, POST, PUT, DELETE, OPTIONS'
const allowedHeaders = 'Content-Type, Authorization'
/** Headers of a response that scripts may read beside its type and length. */
const exposedHeaders =
  'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Should-Retry'

/** Headers for content of people or programs: it has the origin of sign-ins, and must not act for people. */
export const sandboxed = { 'content-security-policy': 'sandbox', 'x-content-type-options': 'nosniff' }

/** Returns the `Content-Disposition` of a file to save under this name (RFC 8187). */
export function attachment(name: string): string {
  const escaped = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    letter => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename*=UTF-8''${escaped}`
}

/** Sets headers of responses, and answers preflights before limits and access: these carry no token. */
export function registerHeaders(app: App): void {
  app.addHook('onRequest', (request, reply, done) => {
    setHeaders(request, reply)
    if (request.method !== 'OPTIONS') {
      done()
      return
    }
    reply.header('access-control-allow-methods', allowedMethods)
    // Clients of OpenAI send headers of their own.
    const asked = isOfOpenAi(request.url) ? request.headers['access-control-request-headers'] : undefined
    reply.header('access-control-allow-headers', asked ?? allowedHeaders)
    reply.code(204).send()
  })
}

/** Names are in lower case and in one order, which is the least work. */
function setHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id)
  // Caches know responses to `Authorization` as private, but not those to a gateway's header.
  reply.header('cache-control', 'no-store')
  reply.header('x-content-type-options', 'nosniff')
  reply.header('x-frame-options', 'DENY')
  reply.header('referrer-policy', 'no-referrer')
  reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
  reply.header('access-control-allow-origin', '*')
  reply.header('access-control-expose-headers', exposedHeaders)
}
