import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import type { DeliveriesService } from './deliveries.service.ts'
import {
  deliveryListQuery,
  deliverySchema,
  newWebhookSchema,
  webhookChangesSchema,
  webhookSchema,
  webhookWithSecretSchema,
} from './webhooks.schema.ts'
import type { WebhooksService } from './webhooks.service.ts'

interface Services {
  webhooks: WebhooksService
  deliveries: DeliveriesService
}

export function registerWebhookRoutes(app: App, { webhooks, deliveries }: Services): void {
  const routes = routesBelow(app, '/api/agents/:id/webhooks', 'Webhooks')

  routes.list('', {
    name: 'listWebhooks',
    summary: 'List webhooks',
    rows: 'webhooks',
    of: webhookSchema,
    handle: ({ agent, query, isAdmin }) => webhooks.list(agent, query, isAdmin),
  })
  routes.create('', {
    name: 'createWebhook',
    summary: 'Create a webhook, to which events are sent',
    description: 'Only this answer contains the secret that signs deliveries.',
    body: newWebhookSchema,
    answer: webhookWithSecretSchema,
    handle: ({ agent, body }) => webhooks.create(agent, body),
  })
  routes.get('/:webhookId', {
    name: 'getWebhook',
    summary: 'Get a webhook',
    answer: webhookSchema,
    handle: ({ agent, params, isAdmin }) => webhooks.get(agent, params.webhookId, isAdmin),
  })
  routes.update('/:webhookId', {
    name: 'updateWebhook',
    summary: 'Update, disable or enable a webhook',
    body: webhookChangesSchema,
    answer: webhookSchema,
    handle: ({ agent, params, body }) => webhooks.update(agent, params.webhookId, body),
  })
  routes.remove('/:webhookId', {
    name: 'deleteWebhook',
    summary: 'Delete a webhook with its deliveries',
    handle: ({ agent, params }) => webhooks.remove(agent, params.webhookId),
  })
  routes.post('/:webhookId/secret', {
    name: 'rotateWebhookSecret',
    audit: 'refusals',
    summary: 'Replace the secret of a webhook',
    description: 'For 24 hours, the former secret signs deliveries, too.',
    answer: webhookWithSecretSchema,
    handle: ({ agent, params }) => webhooks.rotate(agent, params.webhookId),
  })
  registerDeliveries(app, deliveries)
}

function registerDeliveries(app: App, deliveries: DeliveriesService): void {
  const routes = routesBelow(app, '/api/agents/:id/webhooks/:webhookId', 'Webhooks')

  routes.post('/test', {
    name: 'testWebhook',
    summary: 'Send the event `webhook.test`',
    description: 'It is sent once, and not again if that fails.',
    answer: deliverySchema,
    handle: ({ agent, params }) => deliveries.test(agent, params.webhookId),
  })
  routes.list('/deliveries', {
    name: 'listWebhookDeliveries',
    summary: 'List deliveries of the last 30 days',
    query: deliveryListQuery,
    rows: 'deliveries',
    of: deliverySchema,
    handle: ({ agent, params, query }) => deliveries.list(agent, params.webhookId, query),
  })
  routes.post('/deliveries/:deliveryId/retry', {
    name: 'retryWebhookDelivery',
    summary: 'Retry a delivery now',
    description: 'If it fails, it is retried later like a new one.',
    answer: deliverySchema,
    handle: ({ agent, params }) => deliveries.retry(agent, params.webhookId, params.deliveryId),
  })
}
