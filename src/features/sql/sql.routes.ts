import type { App } from '#platform/http/app.ts'
import { clientSignal } from '#platform/http/closing.ts'
import { routesBelow } from '#platform/http/routes.ts'
import { resultSchema, statementSchema, tablesSchema } from './sql.schema.ts'
import { requestOf, type SqlService } from './sql.service.ts'

export function registerSqlRoutes(app: App, sql: SqlService): void {
  const routes = routesBelow(app, '/api/agents/:id/sql', 'SQL')

  routes.get('/schema', {
    name: 'getSqlSchema',
    summary: "Get the tables of the agent's database",
    answer: tablesSchema,
    handle: ({ agent }) => sql.describe(agent),
  })
  routes.post('/execute', {
    name: 'executeSql',
    summary: "Run one SQL statement on the agent's database",
    // Most statements only read; one that writes checks the space itself.
    stores: false,
    audit: 'described',
    body: statementSchema,
    answer: resultSchema,
    handle: ({ agent, body }, reply) => sql.execute(agent, requestOf(body), clientSignal(reply)),
  })
}
