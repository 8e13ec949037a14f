import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ReadAtOnce } from '../prepared-query.ts'
import { bindable } from './dialect.ts'
import { isBusy } from './errors.ts'

/** Reads from a connection in between its transactions; a busy database is left to the way that tries again. */
export function createReadAtOnce(database: DatabaseSync): ReadAtOnce {
  // As many as there are prepared queries.
  const statements = new Map<string, StatementSync>()

  function statementOf(sql: string): StatementSync {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }

  return (sql, parameters) => {
    if (!database.isOpen || database.isTransaction) return undefined
    try {
      return statementOf(sql).all(...parameters.map(bindable))
    } catch (error) {
      if (isBusy(error)) return undefined
      throw error
    }
  }
}
