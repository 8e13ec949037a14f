import type { AgentsFeature } from '#features/agents/agents.feature.ts'
import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { registerAttentionRoutes, registerEventRoutes } from './overview.routes.ts'

/** One view of all features of an agent: their changes, and what waits for a person. */
export function createOverview(
  { changes, clock }: Infrastructure,
  { callerSignal }: Pick<AgentsFeature, 'callerSignal'>,
): Feature {
  const ending = new AbortController()
  return {
    routes(app) {
      registerAttentionRoutes(app, clock)
      const maySee = () => true
      registerEventRoutes(app, { changes, maySee, callerSignal, stopping: ending.signal, clock })
    },
    async drain() {
      ending.abort()
    },
  }
}
