import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { agentPath, changing, reading, tags } from '../routes.ts'
import {
  matchSchema,
  newNotificationSchema,
  notificationListQuery,
  notificationListSchema,
  notificationSchema,
} from './notifications.schema.ts'
import type { NotificationsService } from './notifications.service.ts'

const url = '/api/agents/:id/payment-notifications'
const notificationPath = Type.Object({ ...agentPath.properties, notificationId: Type.String() })

export function registerNotificationRoutes(app: App, notifications: NotificationsService): void {
  registerCollection(app, notifications)
  registerMatching(app, notifications)
}

function registerCollection(app: App, notifications: NotificationsService): void {
  app.route({
    method: 'GET',
    url,
    config: { ...reading, operationId: 'listPaymentNotifications' },
    schema: {
      summary: 'What banks and wallets have written',
      tags,
      params: agentPath,
      querystring: notificationListQuery,
      response: { 200: notificationListSchema },
    },
    handler: async request => {
      const { rows, meta } = await notifications.list(request.agent, request.query)
      return { notifications: rows, meta }
    },
  })

  app.route({
    method: 'POST',
    url,
    config: { ...changing, operationId: 'addPaymentNotification' },
    schema: {
      summary: 'Read a message of a bank or wallet, and find the transaction that it tells of',
      tags,
      params: agentPath,
      body: newNotificationSchema,
      response: { 201: notificationSchema },
    },
    handler: async (request, reply) =>
      reply.code(201).send(await notifications.add(request.agent, request.body)),
  })
}

function registerMatching(app: App, notifications: NotificationsService): void {
  app.route({
    method: 'POST',
    url: `${url}/:notificationId/match`,
    config: { ...changing, operationId: 'matchPaymentNotification' },
    schema: {
      summary: 'Say which transaction a message tells of',
      tags,
      params: notificationPath,
      body: matchSchema,
      response: { 200: notificationSchema },
    },
    handler: ({ agent, params, body }) =>
      notifications.match(agent, params.notificationId, body.transaction_id),
  })

  app.route({
    method: 'POST',
    url: `${url}/:notificationId/unmatch`,
    config: { ...changing, operationId: 'unmatchPaymentNotification' },
    schema: {
      summary: 'Take back which transaction a message tells of',
      tags,
      params: notificationPath,
      response: { 200: notificationSchema },
    },
    handler: ({ agent, params }) => notifications.unmatch(agent, params.notificationId),
  })

  app.route({
    method: 'POST',
    url: `${url}/:notificationId/record`,
    config: { ...changing, operationId: 'recordPaymentNotification' },
    schema: {
      summary: 'Make an inbound transaction of a message that tells of no known one',
      tags,
      params: notificationPath,
      response: { 200: notificationSchema },
    },
    handler: ({ agent, params }) => notifications.record(agent, params.notificationId),
  })
}
