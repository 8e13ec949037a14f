import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'
import type { Access, App, Area, LimitClass } from './app.ts'
import { asKnownError } from './errors/error-format.ts'
import { isArriving } from './requests/arriving.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Decides again, once the handler has read the whole body. Throws the errors of the decision. */
    requireAccess(): Promise<void>
  }
}

/** The decisions on access of requests. */
export interface Decision {
  /** Throws UNAUTHORIZED, AccessDenied or NOT_FOUND if the request is not permitted. */
  decide(request: FastifyRequest, reply: FastifyReply, access: Access): Promise<void>
  /** Decides again about a permitted request, because its caller's rights might have changed. */
  decideAgain(request: FastifyRequest, access: Access): Promise<void>
}

/** A declared route. */
export interface DeclaredRoute {
  method: string
  url: string
  config: { area: Area; access: Access; limit: LimitClass } & FastifyContextConfig
}

/** Thrown while the server is being built, never while it runs. */
class UndeclaredRoute extends Error {}

/**
 * Makes access a property of every route registered from here on: one that does not declare its area, access and limit
 * can't be registered. The list grows with each route.
 */
export function requireDeclarations(app: App): readonly DeclaredRoute[] {
  const declared: DeclaredRoute[] = []
  app.addHook('onRoute', ({ method, url, config = {} }) => {
    const { area, access, limit } = config
    if (!area || !access || !limit)
      throw new UndeclaredRoute(`${String(method)} ${url} must declare config: { area, access, limit }.`)
    for (const one of [method].flat())
      declared.push({ method: one, url, config: { ...config, area, access, limit } })
  })
  return declared
}

/**
 * Decides on every request before its body is read (preflights were answered earlier). If a body takes
 * minutes to arrive, decides again, so that a role that was revoked meanwhile no longer counts.
 */
export function registerAccess(app: App, { decide, decideAgain }: Decision): void {
  const arriving = new WeakSet<FastifyRequest>()
  app.decorateRequest('requireAccess', function requireAccess(this: FastifyRequest) {
    return decideAgain(this, accessOf(this))
  })
  app.addHook('onRequest', (request, reply, done) => {
    const access = accessOf(request)
    if (access === 'open') {
      done()
      return
    }
    decide(request, reply, access).then(() => {
      if (isArriving(request.raw)) arriving.add(request)
      done()
    }, done)
  })
  app.addHook('preValidation', (request, _reply, done) => {
    if (arriving.has(request)) decideAgain(request, accessOf(request)).then(() => done(), done)
    else done()
  })
}

/**
 * Returns the error of a request that has failed, or met a conflict: NOT_FOUND if its subject was deleted
 * meanwhile, because that is then the reason, wherever it was noticed.
 */
export async function behindFailure(thrown: unknown, request: FastifyRequest): Promise<unknown> {
  const error = asKnownError(thrown)
  // A thrown INTERNAL_ERROR has a reason of its own, such as a bucket that keeps an agent's files.
  const hasReason = thrown instanceof AppError && thrown.code === 'INTERNAL_ERROR'
  const mayBeGone =
    !hasReason && error instanceof AppError && (error.fault !== 'user' || error.status === 409)
  if (!mayBeGone || !request.server.hasRequestDecorator('requireAccess')) return thrown
  return await request.requireAccess().then(
    () => thrown,
    reason => (reason instanceof AppError && reason.code === 'NOT_FOUND' ? reason : thrown),
  )
}

/** Returns `anyone` also for API paths without a route, so that all of them refuse a bad token. */
function accessOf(request: FastifyRequest): Access {
  return request.routeOptions.config.access ?? (isOfApi(request.url) ? 'anyone' : 'open')
}

/** Returns true for a URL of the API, even in absolute form (RFC 9112, 3.2.2) or with escaped letters. */
export function isOfApi(url: string): boolean {
  return plainPath(url).startsWith('/api')
}

/** Returns true for a URL of an agent's chat, even if the rest of it is invalid. */
export function isOfChat(url: string): boolean {
  return /^\/api\/agents\/[^/]*\/chat(?:[/?#]|$)/.test(plainPath(url))
}

/** Returns true for a URL below that for clients of OpenAI. */
export function isOfOpenAi(url: string): boolean {
  return /^\/api\/openai(?:[/?#]|$)/.test(plainPath(url))
}

function plainPath(url: string): string {
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '')
  return path.replaceAll(/%([2-7][0-9a-f])/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
}
