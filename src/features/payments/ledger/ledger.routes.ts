import { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { readDates } from '#platform/http/lists/list-dates.ts'
import { limitWaiting } from '#platform/http/responses/slow-readers.ts'
import { routesBelow } from '#platform/http/routes.ts'
import { exportTransactions } from './export-transactions.ts'
import {
  exportQuery,
  resolutionSchema,
  summaryQuery,
  summarySchema,
  transactionListQuery,
  transactionListSchema,
  transactionSchema,
} from './ledger.schema.ts'
import type { Ledger } from './ledger.service.ts'

const base = '/api/agents/:id/transactions'

export function registerLedgerRoutes(app: App, ledger: Ledger): void {
  const routes = routesBelow(app, base, 'Payments', 'payments')

  routes.get('', {
    name: 'listTransactions',
    summary: 'List inbound and outbound transactions',
    query: transactionListQuery,
    answer: transactionListSchema,
    async handle({ agent, query }) {
      const { rows, meta } = await ledger.list(agent, query)
      return { transactions: rows, total: meta.total, meta }
    },
  })
  routes.get('/summary', {
    name: 'sumTransactions',
    summary: 'Get sums of settled transactions by type and currency',
    query: summaryQuery,
    answer: summarySchema,
    handle: async ({ agent, query }) => ({ summary: await ledger.summary(agent, query) }),
  })
  routes.get('/:transactionId', {
    name: 'getTransaction',
    summary: 'Get a transaction',
    answer: transactionSchema,
    handle: ({ agent, params }) => ledger.get(agent.db, params.transactionId),
  })
  routes.post('/:transactionId/resolve', {
    name: 'resolveTransaction',
    summary: 'Record the outcome of an unresolved payment',
    description: 'For payments whose outcome the service could not find out.',
    body: resolutionSchema,
    answer: transactionSchema,
    handle: ({ agent, params, body }) => ledger.resolve(agent, params.transactionId, body),
  })
  registerExport(app)
}

function registerExport(app: App): void {
  app.route({
    method: 'GET',
    url: `${base}/export`,
    config: { area: 'payments', access: 'viewer', limit: 'general', operationId: 'exportTransactions' },
    schema: {
      summary: 'Export transactions as a CSV file',
      tags: ['Payments'],
      params: Type.Object({ id: Type.String() }),
      querystring: exportQuery,
      response: { 200: { content: { 'text/csv': { schema: Type.Unsafe<Readable>(Type.String()) } } } },
    },
    handler: (request, reply) => {
      readDates(request.query)
      limitWaiting(reply.raw)
      void reply
        .type('text/csv; charset=utf-8')
        .header('Content-Disposition', 'attachment; filename="transactions.csv"')
        .send(Readable.from(exportTransactions(request.agent.db, request.query)))
    },
  })
}
