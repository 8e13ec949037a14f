import type { FastifyRequest } from 'fastify'
import type { AccessFeature } from '#features/access/access.feature.ts'
import type { AgentsFeature } from '#features/agents/agents.feature.ts'
import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { AppError } from '#platform/errors.ts'
import { createSpending } from './buying/spending.ts'
import { x402Fetch } from './buying/x402-fetch.ts'
import { registerLedgerRoutes } from './ledger/ledger.routes.ts'
import { createLedger } from './ledger/ledger.service.ts'
import { registerMethodRoutes } from './methods/methods.routes.ts'
import { createMethodsService } from './methods/methods.service.ts'
import { registerNotificationRoutes } from './notifications/notifications.routes.ts'
import { createNotificationsService } from './notifications/notifications.service.ts'
import { paymentEvents } from './payments.events.ts'
import { registerProviderRoutes } from './provider/provider.routes.ts'
import { createProviderService } from './provider/provider.service.ts'
import { createProviderClient } from './provider/provider-client.ts'
import { createRequestStore } from './provider/request-store.ts'
import { createWebhookService } from './provider/webhook.service.ts'
import type { SoldWorkflows } from './selling/delivery.ts'
import { registerResourceRoutes } from './selling/resources.routes.ts'
import { createSelling } from './selling/selling.ts'

interface Dependencies extends Pick<AgentsFeature, 'settings'>, Pick<AccessFeature, 'access' | 'sellBy'> {
  /** Returns the first parts of the paths of all endpoints of an agent. */
  endpoints(): ReadonlySet<string>
  workflows: SoldWorkflows
}

export interface PaymentsFeature extends Feature {
  /** Returns the calls of its agent, such as `/chat`, that the caller of a request would have to pay for. */
  soldTo(request: FastifyRequest): Promise<readonly string[]>
}

/** Money that agents get and spend. */
export function createPayments(
  infrastructure: Infrastructure,
  { settings, access, sellBy, endpoints, workflows }: Dependencies,
): PaymentsFeature {
  const { transact, agentDatabases, agentSecrets, outbound, clock, ids, log } = infrastructure
  const { apiKey, apiBase, webhookSecret } = infrastructure.configuration.payments
  const ledger = createLedger({
    transact,
    log,
    onResolved: (...resolution) => selling.resolve(...resolution),
    clock,
    ids,
  })
  const selling = createSelling(infrastructure, { settings, ledger, endpoints, workflows })
  sellBy(selling.gates.gateOf)
  const methods = createMethodsService({ agentSecrets, clock, ids })
  const notifications = createNotificationsService({ transact, ledger, clock, ids })
  const credentialsOf = async (agentId: string) => (await settings.profileOf(agentId)).credentials
  const callProvider = createProviderClient(apiBase)
  const requests = createRequestStore({ transact, ledger, clock, ids })
  const provider = createProviderService({ requests, credentialsOf, apiKey, callProvider, clock })
  const webhook = createWebhookService({ agentDatabases, transact, ledger, clock, log })
  const profileOf = (agentId: string) =>
    settings.profileOf(agentId).catch(error => {
      if (error instanceof AppError && error.code === 'NOT_FOUND') return undefined
      throw error
    })
  const spending = createSpending({ transact, ledger, clock, ids })
  return {
    events: paymentEvents,
    jobs: { ...provider.jobs, ...selling.jobs },
    async tools(agent) {
      const { credentials, settings: chosen } = await settings.profileOf(agent.agentId)
      const {
        x402_daily_limit: daily,
        x402_payment_limit: payment,
        x402_approval: approval = 'tainted',
      } = chosen
      const walletKey = credentials.x402_wallet_key
      if (walletKey === undefined || daily === undefined) return []
      return [x402Fetch({ outbound, spending, agent, walletKey, limits: { daily, payment }, approval })]
    },
    async soldTo(request) {
      const isFree = await access.hasRole(request.agent.agentId, request)
      return isFree ? [] : await selling.resources.soldCallsOf(request.agent)
    },
    stop: selling.gates.stop,
    routes(app) {
      registerResourceRoutes(app, selling.resources, workflows)
      registerLedgerRoutes(app, ledger)
      registerMethodRoutes(app, methods)
      registerNotificationRoutes(app, notifications)
      registerProviderRoutes(app, { provider, webhook, profileOf, webhookSecret, clock })
    },
  }
}
