import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { RunAtOnce } from '../../prepared-query.ts'
import { bindable, isReading } from './dialect.ts'
import { isBusy, telling } from './errors.ts'

/** Runs statements on one connection, bypassing its Kysely. */
export interface AtOnce {
  /** Reads between transactions; if the database is busy, the query is left to the path that retries. */
  read: RunAtOnce
  /** Runs a statement that belongs to the open transaction. */
  run: RunAtOnce
}

/** `onWrite` is called for each statement that writes. */
export function createAtOnce(
  database: DatabaseSync,
  onWrite: (parameters: readonly unknown[]) => void = () => {},
): AtOnce {
  // Only texts that never change come here; a few of them for each table of vectors.
  const statements = new Map<string, StatementSync>()

  function all(sql: string, parameters: readonly unknown[]): unknown[] {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    return telling(database, () => statement.all(...parameters.map(bindable)))
  }

  return {
    read(sql, parameters) {
      if (!database.isOpen || database.isTransaction) return undefined
      try {
        return all(sql, parameters)
      } catch (error) {
        if (isBusy(error)) return undefined
        throw error
      }
    },

    run(sql, parameters) {
      if (!database.isOpen || !database.isTransaction) return undefined
      if (!isReading(sql)) onWrite(parameters)
      return all(sql, parameters)
    },
  }
}
