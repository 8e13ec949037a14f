import type { SettingsService } from '#features/agents/settings.service.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import type { Ledger } from '../ledger/ledger.service.ts'
import type { Holding } from './claims.repository.ts'
import { createFacilitator } from './facilitator.ts'
import { createGate } from './gate.ts'
import { createReconciliation } from './reconcile.job.ts'
import { createResourcesService } from './resources.service.ts'
import { createSettlements, reconcileJobName } from './settlements.ts'

interface Dependencies {
  settings: SettingsService
  ledger: Ledger
  endpoints(): ReadonlySet<string>
}

/** The parts by which agents sell calls. */
export function createSelling(infrastructure: Infrastructure, { settings, ledger, endpoints }: Dependencies) {
  const { platform, agentDatabases, transact, isExclusive, instanceId, configuration, clock, ids, log } =
    infrastructure
  const { facilitatorUrl, payTo } = configuration.payments
  const { leaseMs, baseUrl } = configuration
  const facilitator = facilitatorUrl === undefined ? undefined : createFacilitator(facilitatorUrl)
  const holding = (): Holding => {
    const now = clock.now()
    const [from = '', to = ''] = [now, now + leaseMs].map(time => new Date(time).toISOString())
    return { holder: instanceId, now: from, expiresAt: to, isExclusive }
  }
  const settlements = createSettlements({ platform, transact, ledger, facilitator, clock })
  const reconciliation = createReconciliation({ platform, settlements, holding, clock })
  const gate = createGate({
    platform,
    agentDatabases,
    facilitator,
    settlements,
    payToOf: async agentId => (await settings.profileOf(agentId)).settings.x402_pay_to ?? payTo,
    baseUrl,
    holding,
    leaseMs,
    clock,
    log,
  })
  const resources = createResourcesService({ facilitator, endpoints, clock, ids })
  return {
    resolve: reconciliation.resolve,
    gate,
    resources,
    jobs: { [reconcileJobName]: reconciliation.job },
  }
}
