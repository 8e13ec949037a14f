import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { clientSignal } from '#platform/http/closing.ts'
import { resultSchema, statementSchema, tablesSchema } from './sql.schema.ts'
import type { SqlService } from './sql.service.ts'
import { requestOf } from './sql.service.ts'

const agentPath = Type.Object({ id: Type.String() })

export function registerSqlRoutes(app: App, sql: SqlService): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/sql/schema',
    config: { area: 'generic', access: 'viewer', limit: 'general', operationId: 'getSqlSchema' },
    schema: {
      summary: "The tables of the agent's database",
      tags: ['SQL'],
      params: agentPath,
      response: { 200: tablesSchema },
    },
    handler: request => sql.describe(request.agent),
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/sql/execute',
    // Most statements read; one that writes finds out by itself whether there is space.
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'executeSql', stores: false },
    schema: {
      summary: "Run one SQL statement on the agent's database",
      tags: ['SQL'],
      params: agentPath,
      body: statementSchema,
      response: { 200: resultSchema },
    },
    handler: (request, reply) => sql.execute(request.agent, requestOf(request.body), clientSignal(reply)),
  })
}
