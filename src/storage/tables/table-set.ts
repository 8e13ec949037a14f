/**
 * Tables are declared once: their columns, keys and indexes, the rights of an agent's SQL, and how they are
 * copied. Also loaded by processes that may read no packages, so this file imports no package but for types.
 */
import type { ColumnDefinitionBuilder, CreateTableBuilder, Kysely } from 'kysely'
import type { Column, Columns, NameOf } from '#platform/columns.ts'
import type { SchemaParts } from '../schema-parts.ts'

/**
 * The rights of an agent's SQL on a table. `hidden` ones cannot even be read. In `readable` ones, only the `updatable`
 * columns may be changed, which contain text that nothing else depends on. Tables that control permissions, or are
 * derived from others, are not writable.
 */
export type TableAccess =
  | { kind: 'hidden' }
  | { kind: 'readable'; updatable: readonly string[] }
  | { kind: 'writable' }

export const hidden: TableAccess = { kind: 'hidden' }
export const readable: TableAccess = { kind: 'readable', updatable: [] }
export const writable: TableAccess = { kind: 'writable' }

export function updatable(...columns: string[]): TableAccess {
  return { kind: 'readable', updatable: columns }
}

/** The plan for copying a table to another database. */
export type TablePlan = CopiedTable | NotCopied

export interface CopiedTable {
  /** The key columns; rows are read in their order. */
  key: readonly [string, ...string[]]
  /** The column that numbers the rows by itself: the copy does not reuse the numbers of deleted rows, either. */
  numbered?: string
  /** Columns with leases of a running process, which hold nothing in the copy. */
  released?: readonly string[]
  /** In the platform database, the column with the agent's id; absent for data that belongs to no agent. */
  agent?: string
}

interface NotCopied {
  /** The measure taken instead of copying the table. */
  instead: string
}

interface PlatformTableRules {
  copy: TablePlan
}

interface AgentTableRules extends PlatformTableRules {
  sql: TableAccess
}

interface Table<Of> {
  columns: Of
  /** The primary key; defaults to `id`. */
  key?: readonly [NameOf<Of>, ...NameOf<Of>[]]
  /** The constraint of a key of several columns; defaults to the table's name with `_key`. */
  keyName?: string
  /** Columns that are unique together, by the constraint's name behind that of the table. */
  together?: Readonly<Record<string, readonly NameOf<Of>[]>>
  /** Indexes by their names behind that of the table. */
  indexes?: Readonly<Record<string, readonly NameOf<Of>[] | Index<NameOf<Of>>>>
  /** The measure taken instead of copying the table; defaults to copying it. */
  instead?: string
}

interface Index<Name> {
  /** Columns, or an SQL expression that every engine understands. */
  on: readonly Name[] | string
  isUnique?: true
  /** Conditions of the rows that it holds; a text at the end is another column. */
  where?: readonly (readonly [
    column: Name,
    operator: 'is' | 'is not' | '=' | '<=',
    value: Name | number | null,
  ])[]
}

interface AgentTable<Of> extends Table<Of> {
  sql: TableAccess
}

interface PlatformTable<Of> extends Table<Of> {
  /** The column with the agent's id; absent for data that belongs to no agent. */
  agent?: NameOf<Of>
  /** True if its rows need not outlive a crash. */
  isShortLived?: true
}

type ByName<Of> = Readonly<Record<string, Of>>
type AnyTable = Table<Columns> & Partial<Pick<PlatformTable<Columns>, 'agent' | 'isShortLived'>>

/** Tables that one migration creates. */
export interface TableSet<Declared, Rules> {
  /** Columns by table. */
  columns: Declared
  /** Rules by table; later tables refer to earlier ones only. */
  rules: Readonly<Record<string, Rules>>
  /** Creates the tables in a database that has those of all earlier sets. */
  create(db: Kysely<unknown>, parts: SchemaParts): Promise<void>
  /** Adds the columns that belong to a later migration. */
  extend(migration: string, db: Kysely<unknown>, parts: SchemaParts): Promise<void>
}

/** Parts that each engine creates by statements of its own, after the tables. */
interface Also<Rules> {
  rules?: Readonly<Record<string, Rules>>
  create(db: Kysely<unknown>, parts: SchemaParts): Promise<void>
}

/** Tables of each agent's own database. */
export function declareAgentTables<Declared extends Record<string, Columns>>(
  tables: { [Name in keyof Declared]: AgentTable<Declared[Name]> } & ByName<AgentTable<Columns>>,
  also?: Also<AgentTableRules>,
): TableSet<Declared, AgentTableRules> {
  return tableSet(tables, ({ sql, ...table }) => ({ sql, copy: planOf(table) }), also)
}

/** The set of a migration that only adds columns, which name it. */
export const columnsOnly = declareAgentTables<Record<never, Columns>>({})

/** Tables of the platform database: data that belongs to no agent, or must stay out of reach of an agent's SQL. */
export function declarePlatformTables<Declared extends Record<string, Columns>>(
  tables: { [Name in keyof Declared]: PlatformTable<Declared[Name]> } & ByName<PlatformTable<Columns>>,
  also?: Also<PlatformTableRules>,
): TableSet<Declared, PlatformTableRules> {
  return tableSet(tables, table => ({ copy: planOf(table) }), also)
}

function tableSet<Declared extends Record<string, Columns>, Of extends AnyTable, Rules>(
  tables: ByName<Of>,
  rulesOf: (table: Of) => Rules,
  also?: Also<Rules>,
): TableSet<Declared, Rules> {
  const named = Object.entries(tables)
  const rules = named.map(([name, table]) => [name, rulesOf(table)] as const)
  return {
    columns: Object.fromEntries(named.map(([name, { columns }]) => [name, columns])) as Declared,
    rules: { ...Object.fromEntries(rules), ...also?.rules },
    async create(db, parts) {
      for (const [name, table] of named) {
        await createTable(db, parts, name, table)
        await createIndexes(db, parts, name, table)
      }
      await also?.create(db, parts)
    },
    async extend(migration, db, parts) {
      for (const [name, { columns }] of named)
        for (const [column, of] of Object.entries(columns))
          if (of.since === migration)
            await db.schema
              .alterTable(name)
              .addColumn(column, ...definition(of, parts))
              .execute()
    },
  }
}

function planOf({ columns, key = ['id'], agent, instead }: AnyTable): TablePlan {
  if (instead !== undefined) return { instead }
  const namesOf = (isWanted: (column: Column) => boolean) =>
    Object.keys(columns).filter(name => columns[name] !== undefined && isWanted(columns[name]))
  const [numbered] = namesOf(({ type }) => type === 'sequence')
  const released = namesOf(({ isLease = false }) => isLease)
  return {
    key,
    ...(numbered !== undefined && { numbered }),
    ...(released.length > 0 && { released }),
    ...(agent !== undefined && { agent }),
  }
}

async function createTable(db: Kysely<unknown>, parts: SchemaParts, name: string, table: AnyTable) {
  const { columns, key = ['id'], keyName = `${name}_key`, together = {}, isShortLived = false } = table
  const empty = db.schema.createTable(name)
  let built: CreateTableBuilder<string, string> = isShortLived ? parts.shortLived(empty) : empty
  for (const [column, of] of Object.entries(columns))
    if (of.since === undefined)
      built = built.addColumn(column, ...definition(of, parts, key.join() === column))
  if (key.length > 1) built = built.addPrimaryKeyConstraint(keyName, [...key])
  for (const [constraint, of] of Object.entries(together))
    built = built.addUniqueConstraint(`${name}_${constraint}`, [...of])
  await built.execute()
}

/** Returns the type and the constraints of a column. */
function definition(column: Column, parts: SchemaParts, isKey = false) {
  const types = {
    text: parts.textType,
    integer: 'integer',
    bigint: 'bigint',
    float: 'double precision',
    bytes: parts.bytesType,
    sequence: parts.sequenceType,
    sequenceReference: parts.sequenceReference,
  } as const
  const constrain = (started: ColumnDefinitionBuilder) => {
    if (column.type === 'sequence') return parts.sequence(started)
    let built = isKey ? started.primaryKey() : column.isNullable ? started : started.notNull()
    if (column.isUnique) built = built.unique()
    if (column.parent !== undefined) built = built.references(`${column.parent}.id`).onDelete('cascade')
    const value = column.default
    if (value === undefined) return built
    return built.defaultTo(typeof value === 'object' ? parts[value.engine] : value)
  }
  return [types[column.type], constrain] as const
}

async function createIndexes(
  db: Kysely<unknown>,
  parts: SchemaParts,
  name: string,
  { indexes = {} }: AnyTable,
) {
  for (const [index, declared] of Object.entries(indexes)) {
    const { on, isUnique, where = [] }: Index<string> = 'on' in declared ? declared : { on: declared }
    const started = db.schema.createIndex(`${name}_${index}`).on(name)
    const empty = isUnique ? started.unique() : started
    let built =
      typeof on === 'string' ? empty.expression(parts.expression(`(${on})`)) : empty.columns([...on])
    for (const [column, operator, value] of where)
      built = built.where(
        parts.reference(column),
        operator,
        typeof value === 'string' ? parts.reference(value) : value,
      )
    await built.execute()
  }
}
