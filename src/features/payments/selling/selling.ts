import type { SettingsService } from '#features/agents/settings.service.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import type { Ledger } from '../ledger/ledger.service.ts'
import type { Holding } from './claims.repository.ts'
import { createClaims } from './claims.ts'
import type { SoldWorkflows } from './delivery.ts'
import { createFacilitator } from './facilitator.ts'
import { createGates } from './gate.ts'
import { createReconciliation } from './reconcile.job.ts'
import { createResourcesService } from './resources.service.ts'
import { createSettlements, reconcileJobName } from './settlements.ts'

interface Dependencies {
  settings: SettingsService
  ledger: Ledger
  endpoints(): ReadonlySet<string>
  workflows: SoldWorkflows
}

/** Creates the parts by which agents sell calls. */
export function createSelling(
  infrastructure: Infrastructure,
  { settings, ledger, endpoints, workflows }: Dependencies,
) {
  const { isExclusive, instanceId, configuration, clock, ids } = infrastructure
  const { facilitatorUrl, payTo } = configuration.payments
  const { leaseMs, baseUrl } = configuration
  const facilitator = facilitatorUrl === undefined ? undefined : createFacilitator(facilitatorUrl)
  const holding = (): Holding => {
    const now = clock.now()
    const [from = '', to = ''] = [now, now + leaseMs].map(time => new Date(time).toISOString())
    return { holder: instanceId, now: from, expiresAt: to, isExclusive }
  }
  const settlements = createSettlements({ ...infrastructure, ledger, facilitator })
  const reconciliation = createReconciliation({ ...infrastructure, settlements, holding })
  const gates = createGates({
    ...infrastructure,
    facilitator,
    settlements,
    baseUrl,
    claims: createClaims({ ...infrastructure, holding, leaseMs }),
    payToOf: async agentId => (await settings.profileOf(agentId)).settings.x402_pay_to ?? payTo,
  })
  const resources = createResourcesService({ facilitator, endpoints, workflows, clock, ids })
  return {
    resolve: reconciliation.resolve,
    gates,
    resources,
    jobs: { [reconcileJobName]: reconciliation.job },
  }
}
