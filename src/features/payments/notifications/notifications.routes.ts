import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import {
  matchSchema,
  newNotificationSchema,
  notificationListQuery,
  notificationSchema,
} from './notifications.schema.ts'
import type { NotificationsService } from './notifications.service.ts'

export function registerNotificationRoutes(app: App, notifications: NotificationsService): void {
  const routes = routesBelow(app, '/api/agents/:id/payment-notifications', 'Payments', 'payments')

  routes.list('', {
    name: 'listPaymentNotifications',
    summary: 'List messages of banks and wallets',
    query: notificationListQuery,
    rows: 'notifications',
    of: notificationSchema,
    handle: ({ agent, query }) => notifications.list(agent, query),
  })
  routes.create('', {
    name: 'addPaymentNotification',
    summary: 'Add a message of a bank or wallet',
    description: 'The service reads it and looks for the transaction that it is about.',
    body: newNotificationSchema,
    answer: notificationSchema,
    handle: ({ agent, body }) => notifications.add(agent, body),
  })
  routes.post('/:notificationId/match', {
    name: 'matchPaymentNotification',
    summary: 'Match a message with its transaction',
    body: matchSchema,
    answer: notificationSchema,
    handle: ({ agent, params, body }) =>
      notifications.match(agent, params.notificationId, body.transaction_id),
  })
  routes.post('/:notificationId/unmatch', {
    name: 'unmatchPaymentNotification',
    summary: 'Unmatch a message from its transaction',
    answer: notificationSchema,
    handle: ({ agent, params }) => notifications.unmatch(agent, params.notificationId),
  })
  routes.post('/:notificationId/record', {
    name: 'recordPaymentNotification',
    summary: 'Create an inbound transaction from an unmatched message',
    answer: notificationSchema,
    handle: ({ agent, params }) => notifications.record(agent, params.notificationId),
  })
}
