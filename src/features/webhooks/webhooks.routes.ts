import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { listParameters } from '#platform/http/lists/list-query.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import type { DeliveriesService } from './deliveries.service.ts'
import {
  deliveryListQuery,
  deliveryListSchema,
  deliverySchema,
  newWebhookSchema,
  webhookChangesSchema,
  webhookListSchema,
  webhookSchema,
  webhookWithSecretSchema,
} from './webhooks.schema.ts'
import type { WebhooksService } from './webhooks.service.ts'

const agentPath = Type.Object({ id: Type.String() })
const webhookPath = Type.Object({ id: Type.String(), webhookId: Type.String() })
const deliveryPath = Type.Object({ ...webhookPath.properties, deliveryId: Type.String() })

const reading = { area: 'generic', access: 'viewer', limit: 'general' } as const
const changing = { ...reading, access: 'admin' } as const
const tags = ['Webhooks']

interface Services {
  webhooks: WebhooksService
  deliveries: DeliveriesService
}

export function registerWebhookRoutes(app: App, { webhooks, deliveries }: Services): void {
  registerCollection(app, webhooks)
  registerOne(app, webhooks)
  registerDeliveries(app, deliveries)
}

function registerCollection(app: App, webhooks: WebhooksService): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/webhooks',
    config: { ...reading, operationId: 'listWebhooks' },
    schema: {
      summary: 'Addresses that are sent events of the agent',
      tags,
      params: agentPath,
      querystring: Type.Object(listParameters),
      response: { 200: webhookListSchema },
    },
    handler: async request => {
      const { rows, meta } = await webhooks.list(request.agent, request.query, request.isAdmin)
      return { webhooks: rows, meta }
    },
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/webhooks',
    config: { ...changing, operationId: 'createWebhook' },
    schema: {
      summary: 'Have events sent to an address; the secret is shown only now',
      tags,
      params: agentPath,
      body: newWebhookSchema,
      response: { 201: webhookWithSecretSchema },
    },
    handler: async (request, reply) =>
      reply.code(201).send(await webhooks.create(request.agent, request.body)),
  })
}

function registerOne(app: App, webhooks: WebhooksService): void {
  const url = '/api/agents/:id/webhooks/:webhookId'

  app.route({
    method: 'GET',
    url,
    config: { ...reading, operationId: 'getWebhook' },
    schema: { summary: 'A webhook', tags, params: webhookPath, response: { 200: webhookSchema } },
    handler: request => webhooks.get(request.agent, request.params.webhookId, request.isAdmin),
  })

  app.route({
    method: 'PUT',
    url,
    config: { ...changing, operationId: 'updateWebhook' },
    schema: {
      summary: 'Change, disable or enable a webhook',
      tags,
      params: webhookPath,
      body: webhookChangesSchema,
      response: { 200: webhookSchema },
    },
    handler: request => webhooks.update(request.agent, request.params.webhookId, request.body),
  })

  app.route({
    method: 'DELETE',
    url,
    config: { ...changing, operationId: 'deleteWebhook' },
    schema: {
      summary: 'Delete a webhook with its deliveries',
      tags,
      params: webhookPath,
      response: { 200: successSchema },
    },
    handler: async request => {
      await webhooks.remove(request.agent, request.params.webhookId)
      return { success: true }
    },
  })

  app.route({
    method: 'POST',
    url: `${url}/secret`,
    config: { ...changing, operationId: 'rotateWebhookSecret' },
    schema: {
      summary: 'Replace the secret; the former one signs beside it for 24 hours',
      tags,
      params: webhookPath,
      response: { 200: webhookWithSecretSchema },
    },
    handler: request => webhooks.rotate(request.agent, request.params.webhookId),
  })
}

function registerDeliveries(app: App, deliveries: DeliveriesService): void {
  const url = '/api/agents/:id/webhooks/:webhookId'

  app.route({
    method: 'POST',
    url: `${url}/test`,
    config: { ...changing, operationId: 'testWebhook' },
    schema: {
      summary: 'Send the event `webhook.test`, once',
      tags,
      params: webhookPath,
      response: { 200: deliverySchema },
    },
    handler: request => deliveries.test(request.agent, request.params.webhookId),
  })

  app.route({
    method: 'GET',
    url: `${url}/deliveries`,
    config: { ...reading, operationId: 'listWebhookDeliveries' },
    schema: {
      summary: 'Deliveries of the last 30 days',
      tags,
      params: webhookPath,
      querystring: deliveryListQuery,
      response: { 200: deliveryListSchema },
    },
    handler: async request => {
      const { rows, meta } = await deliveries.list(request.agent, request.params.webhookId, request.query)
      return { deliveries: rows, meta }
    },
  })

  app.route({
    method: 'POST',
    url: `${url}/deliveries/:deliveryId/retry`,
    config: { ...changing, operationId: 'retryWebhookDelivery' },
    schema: {
      summary: 'Send a delivery now, and as a new one if that fails',
      tags,
      params: deliveryPath,
      response: { 200: deliverySchema },
    },
    handler: ({ agent, params }) => deliveries.retry(agent, params.webhookId, params.deliveryId),
  })
}
