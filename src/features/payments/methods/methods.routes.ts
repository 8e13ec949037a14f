import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import { methodSchema, newMethodSchema } from './methods.schema.ts'
import type { MethodsService } from './methods.service.ts'

export function registerMethodRoutes(app: App, methods: MethodsService): void {
  const routes = routesBelow(app, '/api/agents/:id/payment-methods', 'Payments', 'payments')

  routes.list('', {
    name: 'listPaymentMethods',
    summary: 'List the ways in which the agent can be paid',
    rows: 'methods',
    of: methodSchema,
    handle: ({ agent, query, isAdmin }) => methods.list(agent, query, isAdmin),
  })
  routes.create('', {
    name: 'addPaymentMethod',
    summary: 'Add a payment method',
    body: newMethodSchema,
    answer: methodSchema,
    handle: ({ agent, body }) => methods.create(agent, body),
  })
  routes.remove('/:methodId', {
    name: 'deletePaymentMethod',
    summary: 'Delete a payment method',
    handle: ({ agent, params }) => methods.remove(agent, params.methodId),
  })
}
