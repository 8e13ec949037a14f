import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'
import type { Access, App, Area, LimitClass } from './app.ts'
import { asKnownError } from './errors/error-format.ts'
import { isArriving } from './requests/arriving.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Decides again, for a body that is read by the handler: to be called when all of it has arrived. Throws what the
     * decision throws.
     */
    requireAccess(): Promise<void>
  }
}

/** Who decides whether a request may go on. */
export interface Decision {
  /** Throws UNAUTHORIZED, AccessDenied or NOT_FOUND if it may not. */
  decide(request: FastifyRequest, reply: FastifyReply, access: Access): Promise<void>
  /** Decides again about a request that was permitted before, as its caller's rights may have changed since. */
  decideAgain(request: FastifyRequest, access: Access): Promise<void>
}

/** A route as it was declared. */
export interface DeclaredRoute {
  method: string
  url: string
  config: { area: Area; access: Access; limit: LimitClass } & FastifyContextConfig
}

/** Raised while the server is being built, never while it runs. */
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
 * Has every request decided before its body is read (preflights were answered earlier). A body may take minutes to arrive;
 * then it is decided again, so that a role that was taken away meanwhile no longer counts.
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
 * The error of a request that has failed, or met a conflict: NOT_FOUND if its subject has been deleted in the
 * meantime, since that is then the reason, wherever in the service it was noticed.
 */
export async function behindFailure(thrown: unknown, request: FastifyRequest): Promise<unknown> {
  const error = asKnownError(thrown)
  // One that was thrown as such says what failed, such as the bucket that an agent's files could not be removed from.
  const hasReason = thrown instanceof AppError && thrown.code === 'INTERNAL_ERROR'
  const mayBeGone =
    !hasReason && error instanceof AppError && (error.fault !== 'user' || error.status === 409)
  if (!mayBeGone || !request.server.hasRequestDecorator('requireAccess')) return thrown
  return await request.requireAccess().then(
    () => thrown,
    reason => (reason instanceof AppError && reason.code === 'NOT_FOUND' ? reason : thrown),
  )
}

/** A path without a route still has its token checked, so that a bad one is refused on every /api path alike. */
function accessOf(request: FastifyRequest): Access {
  return request.routeOptions.config.access ?? (isOfApi(request.url) ? 'anyone' : 'open')
}

/** Whether a URL lies within the API, even in absolute form (RFC 9112, 3.2.2) or with escaped letters. */
export function isOfApi(url: string): boolean {
  return plainPath(url).startsWith('/api')
}

/** Whether a URL is one of an agent's chat, however badly the rest of it is written. */
export function isOfChat(url: string): boolean {
  return /^\/api\/agents\/[^/]*\/chat(?:[/?#]|$)/.test(plainPath(url))
}

/** Whether a URL lies below that for clients of OpenAI. */
export function isOfOpenAi(url: string): boolean {
  return /^\/api\/openai(?:[/?#]|$)/.test(plainPath(url))
}

function plainPath(url: string): string {
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '')
  return path.replaceAll(/%([2-7][0-9a-f])/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
}
