import type { FastifyRequest } from 'fastify'
import type { Access, App } from './app.ts'

/** Decides whether the request may go on: throws UNAUTHORIZED, AccessDenied or NOT_FOUND if not. */
export type Decide = (request: FastifyRequest, access: Access) => Promise<void>

/** Raised while the server is being built, never while it runs. */
class UndeclaredRoute extends Error {}

/**
 * Makes access a property of every route: one that does not declare its area, access and limit can't be registered,
 * and the decision falls before the body is read.
 */
export function registerAccess(app: App, decide: Decide): void {
  app.addHook('onRoute', route => {
    const isPreflight = route.method === 'OPTIONS' && route.url === '*'
    const config = route.config ?? {}
    if (isPreflight || (config.area && config.access && config.limit)) return
    throw new UndeclaredRoute(
      `${String(route.method)} ${route.url} must declare config: { area, access, limit }.`,
    )
  })
  app.addHook('onRequest', async request => {
    if (request.method === 'OPTIONS') return
    // A path without a route still has its token checked, so that a bad one is refused on every /api path alike.
    const access = request.routeOptions.config.access ?? (request.url.startsWith('/api') ? 'anyone' : 'open')
    if (access !== 'open') await decide(request, access)
  })
}
