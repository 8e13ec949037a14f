import { describeChange } from '#platform/current-change.ts'
import { invalid } from '#platform/errors.ts'
import { maxRows } from '#sandbox/sql/limits.ts'
import type { SqlAgent, SqlParameter, SqlRunner } from '#sandbox/sql/sql-runner.ts'
import { mayWrite, readStatement } from '#sandbox/sql/statement.ts'
import type { StatementBody, StatementResult } from './sql.schema.ts'

export interface StatementRequest {
  query: string
  params?: readonly SqlParameter[]
  /** Refuses statements that change anything. */
  readOnly?: boolean
  /** Refuses statements other than SELECT. */
  onlySelect?: boolean
  /** Max rows; at most 10,000, which is the default. */
  maxRows?: number
}

/** Runs statements on one agent's database for people, models and other features. */
export function createSqlService(runner: SqlRunner) {
  return {
    describe: async (agent: SqlAgent) => ({ tables: await runner.describe(agent) }),

    /** @throws AppError like `SqlRunner.run`. */
    async execute(
      agent: SqlAgent,
      {
        query,
        params = [],
        readOnly = false,
        onlySelect = false,
        maxRows: limit = maxRows,
      }: StatementRequest,
      signal?: AbortSignal,
    ): Promise<StatementResult> {
      const begin = performance.now()
      const bounds = { readOnly, onlySelect, maxRows: Math.min(limit, maxRows) }
      const statement = { query, parameters: params, ...bounds }
      const { columns, rows, rowCount, truncated } = await runner.run(agent, statement, signal)
      describeWrite(query)
      return {
        columns,
        rows,
        row_count: rowCount,
        duration_ms: Math.round(performance.now() - begin),
        ...(truncated && { truncated }),
      }
    },
  }
}
/** Describes a write only by its kind: its text can contain secrets. */
function describeWrite(query: string): void {
  const statement = readStatement(query, 'sqlite')
  const isRead = 'tokens' in statement && (statement.kind === 'explain' || !mayWrite(statement))
  if (!isRead) describeChange({ statement: statement.kind })
}

export type SqlService = ReturnType<typeof createSqlService>

/** Returns the statement in a request, which can name its values in two ways. */
export function requestOf({ query, params, 'the service': alias }: StatementBody): StatementRequest {
  if (params !== undefined && alias !== undefined)
    throw invalid('params', 'is given twice: use either params or its other name')
  return { query, params: params ?? alias ?? [] }
}
