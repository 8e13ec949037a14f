/**
 * Columns of tables, declared once: from them come the types of rows, the statements that create the tables, the rules of
 * copying, and lists. Also loaded by processes that may read no packages, so this file imports types only.
 */
import type { Generated } from 'kysely'

export interface Column<Value = unknown> {
  type: 'text' | 'integer' | 'bigint' | 'float' | 'bytes' | 'sequence' | 'sequenceReference'
  isNullable?: true
  isUnique?: true
  /** The table that the column refers to by `id`: the row is deleted with that one. */
  parent?: string
  /** The value if an insertion gives none; `newId` and `now` are expressions of the engine. */
  default?: string | number | { engine: 'newId' | 'now' }
  /** True for a value of a running process, which a copy of the row replaces with null. */
  isLease?: true
  /** The migration that added the column to a table that was there before. */
  since?: string
  /** Never set: the field carries the type. */
  readonly value?: Value
}

export type Columns = Readonly<Record<string, Column>>
export type NameOf<Of> = keyof Of & string

/** The row of a table, with `Generated` for values that an insertion need not give. */
export type RowOf<Of> = { [Name in keyof Of]: Of[Name] extends Column<infer Value> ? Value : never }

export const text: Column<string> = { type: 'text' }
export const textOrNull: Column<string | null> = { type: 'text', isNullable: true }
export const integer: Column<number> = { type: 'integer' }
export const integerOrNull: Column<number | null> = { type: 'integer', isNullable: true }
/** A whole number beyond 32 bits. */
export const bigint: Column<number> = { type: 'bigint' }
export const bigintOrNull: Column<number | null> = { type: 'bigint', isNullable: true }
export const float: Column<number> = { type: 'float' }
export const bytes: Column<Uint8Array> = { type: 'bytes' }
/** The key of a table that numbers its rows itself, ascending, and uses no number twice. */
export const sequence: Column<Generated<number>> = { type: 'sequence' }
/** The sequence of another row. */
export const sequenceReference: Column<number> = { type: 'sequenceReference' }
/** The holder or the end of a lease. */
export const lease: Column<string | null> = { ...textOrNull, isLease: true }

/** The id of a row of another table, with which this one is deleted. */
export function partOf(parent: string): Column<string> {
  return { ...text, parent }
}

export function unique<Of extends Column>(column: Of): Of {
  return { ...column, isUnique: true }
}

export function withDefault<Value>(
  column: Column<Value>,
  value: NonNullable<Column['default']>,
): Column<Generated<Value>> {
  return { ...(column as Column<Generated<Value>>), default: value }
}

/** Declares a column that a later migration adds to the table. */
export function since<Of extends Column>(migration: string, column: Of): Of {
  return { ...column, since: migration }
}
