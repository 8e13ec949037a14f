import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { createDelivering } from './deliver-webhook.job.ts'
import { createDeliveriesService } from './deliveries.service.ts'
import { createQueueing, deliverJobName, wakeJobName } from './queue-deliveries.job.ts'
import { createSending } from './send-delivery.ts'
import { subscriberKind } from './webhooks.repository.ts'
import { registerWebhookRoutes } from './webhooks.routes.ts'
import { createWebhooksService } from './webhooks.service.ts'

/** Reports events of agents to other systems. `eventNames` returns those of all features, also later ones. */
export function createWebhooks(infrastructure: Infrastructure, eventNames: () => readonly string[]): Feature {
  const { outbound, agentSecrets, transact, ensureJobs, clock, ids } = infrastructure
  const webhooks = createWebhooksService({ transact, outbound, agentSecrets, eventNames, clock, ids })
  const deliveries = createDeliveriesService({ transact, clock, ids })
  const sendingTo = createSending({ outboundFetch: outbound.fetchFunction(), agentSecrets, clock })
  const queueing = createQueueing({ ensureJobs, clock })
  return {
    routes: app => registerWebhookRoutes(app, { webhooks, deliveries }),
    jobs: { [deliverJobName]: createDelivering({ sendingTo, clock }), [wakeJobName]: queueing.wake },
    eventHandlers: { [subscriberKind]: queueing.events },
  }
}
