import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Access, App, Area, LimitClass } from './app.ts'

/** Decides whether the request may go on: throws UNAUTHORIZED, AccessDenied or NOT_FOUND if not. */
export type Decide = (request: FastifyRequest, reply: FastifyReply, access: Access) => Promise<void>

/** A route as it was declared. */
export interface DeclaredRoute {
  method: string
  url: string
  config: { area: Area; access: Access; limit: LimitClass }
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
    for (const one of [method].flat()) declared.push({ method: one, url, config: { area, access, limit } })
  })
  return declared
}

/** Lets every request be decided upon before its body is read; preflights were answered before. */
export function registerAccess(app: App, decide: Decide): void {
  app.addHook('onRequest', (request, reply, done) => {
    // A path without a route still has its token checked, so that a bad one is refused on every /api path alike.
    const access = request.routeOptions.config.access ?? (request.url.startsWith('/api') ? 'anyone' : 'open')
    if (access === 'open') done()
    else decide(request, reply, access).then(() => done(), done)
  })
}
