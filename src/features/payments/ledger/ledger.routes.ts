import { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { readDates } from '#platform/http/lists/list-dates.ts'
import { limitWaiting } from '#platform/http/responses/slow-readers.ts'
import { agentPath, changing, reading, tags } from '../routes.ts'
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

const url = '/api/agents/:id/transactions'
const transactionPath = Type.Object({ ...agentPath.properties, transactionId: Type.String() })

export function registerLedgerRoutes(app: App, ledger: Ledger): void {
  app.route({
    method: 'GET',
    url,
    config: { ...reading, operationId: 'listTransactions' },
    schema: {
      summary: 'Money that came and went',
      tags,
      params: agentPath,
      querystring: transactionListQuery,
      response: { 200: transactionListSchema },
    },
    handler: async request => {
      const { rows, meta } = await ledger.list(request.agent, request.query)
      return { transactions: rows, total: meta.total, meta }
    },
  })

  app.route({
    method: 'GET',
    url: `${url}/summary`,
    config: { ...reading, operationId: 'sumTransactions' },
    schema: {
      summary: 'Sums of settled transactions, by type and currency',
      tags,
      params: agentPath,
      querystring: summaryQuery,
      response: { 200: summarySchema },
    },
    handler: async request => ({ summary: await ledger.summary(request.agent, request.query) }),
  })

  app.route({
    method: 'GET',
    url: `${url}/:transactionId`,
    config: { ...reading, operationId: 'getTransaction' },
    schema: { summary: 'A transaction', tags, params: transactionPath, response: { 200: transactionSchema } },
    handler: request => ledger.get(request.agent.db, request.params.transactionId),
  })

  app.route({
    method: 'POST',
    url: `${url}/:transactionId/resolve`,
    config: { ...changing, operationId: 'resolveTransaction' },
    schema: {
      summary: 'Say what came of a payment whose outcome could not be found out',
      tags,
      params: transactionPath,
      body: resolutionSchema,
      response: { 200: transactionSchema },
    },
    handler: request => ledger.resolve(request.agent, request.params.transactionId, request.body),
  })

  registerExport(app)
}

function registerExport(app: App): void {
  app.route({
    method: 'GET',
    url: `${url}/export`,
    config: { ...reading, operationId: 'exportTransactions' },
    schema: {
      summary: 'Transactions as a CSV file',
      tags,
      params: agentPath,
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
