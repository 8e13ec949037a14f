import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { createDelivering, deliverJobName } from './deliver-webhook.job.ts'
import { createDeliveriesService } from './deliveries.service.ts'
import { createSend } from './send-delivery.ts'
import { subscriberKind } from './webhooks.repository.ts'
import { registerWebhookRoutes } from './webhooks.routes.ts'
import { createWebhooksService } from './webhooks.service.ts'

/** Tells other systems what happens to agents. `eventNames` are those of all features, also later ones. */
export function createWebhooks(infrastructure: Infrastructure, eventNames: () => readonly string[]): Feature {
  const { outbound, agentSecrets, transact, clock, ids } = infrastructure
  const webhooks = createWebhooksService({ outbound, agentSecrets, eventNames, clock, ids })
  const deliveries = createDeliveriesService({ transact, clock, ids })
  const send = createSend({ outboundFetch: outbound.fetchFunction(), agentSecrets, clock })
  const delivering = createDelivering({ transact, send, clock })
  return {
    routes: app => registerWebhookRoutes(app, { webhooks, deliveries }),
    jobs: { [deliverJobName]: delivering.job },
    eventHandlers: { [subscriberKind]: delivering.events },
  }
}
