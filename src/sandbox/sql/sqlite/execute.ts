import type { SQLInputValue } from 'node:sqlite'
import { maxBytes } from '../limits.ts'
import type { Problem } from '../problem.ts'
import type { SqlResult, SqlStatement, SqlValue } from '../sql-runner.ts'
import { tokensOf } from '../tokens.ts'
import type { Connection, Prepared } from './connection.ts'
import { problemOf } from './failures.ts'

/** Runs one statement. Problems are returned, never thrown. */
export function execute(connection: Connection, given: SqlStatement): SqlResult | Problem {
  const prepared = prepare(connection, given)
  if ('kind' in prepared) return prepared
  try {
    if (prepared.writes) connection.beforeWrite()
    return run(connection, prepared, given)
  } catch (error) {
    connection.forget(given.query, given)
    return problemOf(error, 'run', connection.authorizer.refusal())
  }
}

function prepare(connection: Connection, { query, readOnly }: SqlStatement): Prepared | Problem {
  try {
    const prepared = connection.prepare(query, { readOnly })
    // SQLite prepares only the first of several statements. The caller has already counted them; this is the final check.
    const rest = query.slice(prepared.statement.sourceSQL.length)
    if (rest !== '' && tokensOf(rest, 'sqlite').some(({ text }) => text !== ';'))
      return { kind: 'invalid', message: 'holds several statements; send one at a time' }
    if (prepared.refusal !== undefined) return { kind: 'forbidden', message: prepared.refusal }
    return prepared
  } catch (error) {
    return problemOf(error, 'prepare', connection.authorizer.refusal())
  }
}

function run(
  connection: Connection,
  { statement, hasRows, writes }: Prepared,
  given: SqlStatement,
): SqlResult {
  const values = given.parameters.map(bindable)
  if (!hasRows) {
    const { changes } = statement.run(...values)
    return { columns: [], rows: [], rowCount: writes ? Number(changes) : 0, truncated: false }
  }
  const { rows, truncated } = read(statement.iterate(...values), given.maxRows, writes)
  const columns = statement.columns().map(({ name }) => name)
  const changes = writes && !explains(statement.sourceSQL)
  return { columns, rows, truncated, rowCount: changes ? connection.changes() : rows.length }
}

/** Returns true for an explanation, which changes nothing even of a write. */
function explains(query: string): boolean {
  return tokensOf(query, 'sqlite').find(({ text }) => text !== ';')?.text === 'explain'
}

/** @param toTheEnd true if all rows must be read, because a write is complete only with its last one. */
function read(source: Iterable<unknown>, maxRows: number, toTheEnd: boolean) {
  const rows: SqlValue[][] = []
  let bytes = 0
  let truncated = false
  for (const row of source) {
    if (truncated) continue
    const values = (row as unknown[]).map(jsonOf)
    bytes += values.reduce<number>((sum, value) => sum + sizeOf(value), 0)
    truncated = rows.length >= maxRows || bytes > maxBytes
    if (!truncated) rows.push(values)
    else if (!toTheEnd) break
  }
  return { rows, truncated }
}

function bindable(value: SqlStatement['parameters'][number]): SQLInputValue {
  // Otherwise integers, and numbers of truth values, would be bound as floats.
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isSafeInteger(value))
    ? BigInt(value)
    : value
}

function jsonOf(value: unknown): SqlValue {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : String(value)
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') }
  return value as string | null
}

/** Returns a value's approximate size in the result. */
function sizeOf(value: SqlValue): number {
  if (typeof value === 'string') return value.length + 3
  return typeof value === 'object' && value !== null ? value.base64.length + 14 : 8
}
