import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { registerSignInRoutes } from './sign-in.routes.ts'

/** How people come in without an identity gateway. */
export function createSignIn(infrastructure: Infrastructure): Feature {
  return { routes: app => registerSignInRoutes(app, infrastructure) }
}
