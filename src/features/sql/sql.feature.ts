import type { SettingsService } from '#features/agents/settings.service.ts'
import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { executeSql } from './execute-sql.ts'
import { registerSqlRoutes } from './sql.routes.ts'
import { createSqlService, type SqlService } from './sql.service.ts'

export interface SqlFeature extends Feature {
  sql: SqlService
}

/** The agent's own database, for people and models. */
export function createSql(
  { sqlRunner }: Infrastructure,
  { settings }: { settings: SettingsService },
): SqlFeature {
  const sql = createSqlService(sqlRunner)
  return {
    sql,
    routes: app => registerSqlRoutes(app, sql),
    // Through the model, callers who may only chat, such as strangers on a messenger, must not read more.
    tools: (agent, _taken, turn) =>
      turn?.isOutsider
        ? []
        : [
            executeSql({
              sql: (statement, signal) => sql.execute(agent, statement, signal),
              mayWrite: async () =>
                (await settings.profileOf(agent.agentId)).settings.sql_tool_writes === true,
            }),
          ],
  }
}
