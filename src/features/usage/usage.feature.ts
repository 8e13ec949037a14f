import type { AccessFeature } from '#features/access/access.feature.ts'
import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { registerUsageRoutes } from './usage.routes.ts'
import { createUsageService, type UsageService } from './usage.service.ts'

export interface UsageFeature extends Feature {
  usage: UsageService
}

/** Counts the agents' usage of models, and enforces their budgets. */
export function createUsage(
  infrastructure: Infrastructure,
  { access }: Pick<AccessFeature, 'access'>,
): UsageFeature {
  const { modelPrices, houseLimits } = infrastructure.configuration
  const usage = createUsageService({ ...infrastructure, modelPrices, houseLimits })
  return { usage, routes: app => registerUsageRoutes(app, { usage, access }) }
}
