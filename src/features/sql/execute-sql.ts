import { Type } from 'typebox'
import { fromSchema, type Tool } from '#models/tools/tool.ts'
import type { SqlService } from './sql.service.ts'

/** Max rows for a model; more would fill its context without use. */
const rowsGiven = 200

const input = fromSchema(
  Type.Object({
    query: Type.String({ minLength: 1, description: 'One SQL statement.' }),
  }),
)

interface Dependencies {
  sql(
    statement: { query: string; readOnly: boolean; maxRows: number },
    signal: AbortSignal,
  ): ReturnType<SqlService['execute']>
  /** Returns true if the agent's owner lets the model change data. */
  mayWrite(): Promise<boolean>
}

/** Lets a model query the agent's own database. */
export function executeSql({ sql, mayWrite }: Dependencies): Tool {
  return {
    name: 'execute_sql',
    description:
      "Runs one SQL statement on the agent's own database and returns its rows. " +
      'The tables and their columns are told by PRAGMA table_list and PRAGMA table_info(name).',
    isBuiltIn: true,
    origin: 'own',
    ...input,
    // A statement between two equal ones might have changed their rows.
    observesChange: true,
    readsOnly: async () => !(await mayWrite()),
    async execute({ query }, signal) {
      const readOnly = !(await mayWrite())
      return await sql({ query: String(query), readOnly, maxRows: rowsGiven }, signal)
    },
  }
}
