import type { FastifyRequest } from 'fastify'
import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import { meSchema } from './sign-in.schema.ts'

export function registerSignInRoutes(app: App, { version }: { version: string }): void {
  const routes = routesBelow(app, '/api/auth', 'Sign-in')

  routes.get('/me', {
    name: 'getMe',
    summary: 'Get the caller and the powers of the public',
    description:
      '`user` is null for callers without one, and `via` then, too. `public_access` is the power of such callers on the ' +
      'agent `default`.',
    access: 'anyone',
    handle: ({ caller: { user, via }, publicAccess }) => ({
      user: user === undefined ? null : { email: user.email, name: user.name ?? null },
      via: viaOf(via),
      public_access: publicAccess === 'page' ? 'chat' : publicAccess,
      version,
    }),
    answer: meSchema,
  })
}

function viaOf(via: FastifyRequest['caller']['via']) {
  if (via === 'none') return null
  return via === 'developer' ? ('dev_user' as const) : via
}
