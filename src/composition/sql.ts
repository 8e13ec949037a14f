import { registerSqlRoutes } from '#features/sql/sql.routes.ts'
import type { SqlService } from '#features/sql/sql.service.ts'
import { createSqlService } from '#features/sql/sql.service.ts'
import type { App } from '#platform/http/app.ts'
import type { Foundation } from './foundation.ts'

/** Composes the SQL feature and registers its routes. */
export function composeSql(app: App, { foundation }: { foundation: Foundation }): SqlService {
  const sql = createSqlService(foundation.sqlRunner)
  registerSqlRoutes(app, sql)
  return sql
}
