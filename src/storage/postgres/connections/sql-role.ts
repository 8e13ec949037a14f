/**
 * The role that an agent's own SQL runs as: a login of its own, because `set role` is no security boundary.
 * Roles are global to the server, so their names include the database as well as the agent.
 */
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto'
import { type Kysely, type QueryExecutorProvider, type RawBuilder, sql } from 'kysely'
import type { Pool } from 'pg'
import { quoted } from './connections.ts'
import { isOwnRelation } from './own-relations.ts'

/** The role's rights on one table. */
export interface TableRights {
  table: string
  /** This includes the sequence of a column that numbers itself. */
  writable: boolean
  /** Columns that may be updated even though the table is not writable. */
  updatable: readonly string[]
}

interface RoleSettings {
  name: string
  schema: string
  password: string
  /** Milliseconds. */
  timeLimit: number
  rightsOf(table: string): TableRights | undefined
}

/** Milliseconds. */
const idleLimit = 60_000
const checkInterval = 500
/** Max connections of all processes together. */
const maxConnections = 20

/** Prefix of the names of all roles for the agents of a database. */
const rolePrefix = (database: number) => `agentstead_sql_${database}_`

export async function roleName(db: QueryExecutorProvider, schema: string): Promise<string> {
  const { rows } = await sql<{ oid: number }>`
    select oid::bigint as oid from pg_database where datname = current_database()
  `.execute(db)
  return nameOf(rows[0]?.oid, schema)
}

function nameOf(database: number | undefined, schema: string): string {
  if (database === undefined) throw new Error('the database has no number')
  return rolePrefix(database) + createHash('sha256').update(schema).digest('hex').slice(0, 24)
}

/** Returns true if the service's own user may create roles, or this one already exists. */
export async function mayHaveRole(db: QueryExecutorProvider, role: string): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select rolsuper or rolcreaterole or exists (select 1 from pg_roles where rolname = ${role}) as may
    from pg_roles where rolname = current_user
  `.execute(db)
  return rows[0]?.may === true
}

/**
 * Creates the role, or updates it to this state: its password, its limits, and exactly these privileges. All or
 * nothing, so that no role is left behind for an agent that is being deleted at the same time.
 */
export async function prepareRole<Tables>(db: Kysely<Tables>, role: RoleSettings): Promise<void> {
  await db.transaction().execute(async transaction => {
    const run = (statement: RawBuilder<unknown>) => statement.execute(transaction)
    const name = sql.id(role.name)
    await holdRole(transaction, role.name)
    const exists = await hasRole(transaction, role.name)
    await run(
      sql`${sql.raw(exists ? 'alter' : 'create')} role ${name} with login noinherit
        connection limit ${sql.lit(maxConnections)} password ${sql.lit(verifierOf(role))}`,
    )
    const settings = { ...settingsOf(role), ...(await lossOfClients(transaction)) }
    for (const [setting, value] of Object.entries(settings))
      await run(sql`alter role ${name} set ${sql.raw(setting)} = ${sql.lit(value)}`)
    await grantDatabase(transaction, role.name)
    await run(sql`grant usage on schema ${sql.id(role.schema)} to ${name}`)
    await grantTables(transaction, role)
  })
}

/** Settings that limit the time that a session can stay open or block others by any statement. */
function settingsOf({ schema, timeLimit }: RoleSettings): Record<string, string> {
  return {
    search_path: schema,
    statement_timeout: String(timeLimit),
    lock_timeout: String(timeLimit),
    idle_in_transaction_session_timeout: String(timeLimit),
    idle_session_timeout: String(idleLimit),
    standard_conforming_strings: 'on',
    client_min_messages: 'error',
    max_parallel_workers_per_gather: '0',
  }
}

/** Returns the interval of looking for lost connections, on servers that detect one before the time limit. */
async function lossOfClients(db: QueryExecutorProvider): Promise<Record<string, string>> {
  const setting = 'client_connection_check_interval'
  const { rows } = await sql`
    select 1 from pg_settings where name = ${setting} and version() !~* 'mingw|visual c'
  `.execute(db)
  return rows.length > 0 ? { [setting]: String(checkInterval) } : {}
}

/** Grants the right to connect, unless every role has it. */
async function grantDatabase(db: QueryExecutorProvider, role: string): Promise<void> {
  const { rows } = await sql<{ name: string; may: boolean }>`
    select current_database() as name, has_database_privilege(${role}, current_database(), 'connect') as may
  `.execute(db)
  for (const { name, may } of rows) {
    if (may) continue
    await sql.raw(holdDatabase).execute(db)
    await sql`grant connect on database ${sql.id(name)} to ${sql.id(role)}`.execute(db)
  }
}

/** Locks the database's privileges: transactions that change them at once would fail one another. */
const holdDatabase = "select pg_advisory_xact_lock(hashtextextended('agentstead privileges', 0))"

async function grantTables(db: QueryExecutorProvider, role: RoleSettings): Promise<void> {
  const name = sql.id(role.name)
  const tables = await ownTables(db)
  if (tables.length > 0)
    await sql`revoke all on ${sql.join(tables.map(table => sql.id(role.schema, table)))} from ${name}`.execute(
      db,
    )
  for (const table of tables) {
    const rights = role.rightsOf(table)
    if (rights === undefined) continue
    for (const right of rightsIn(rights))
      await sql`grant ${right} on ${sql.id(role.schema, table)} to ${name}`.execute(db)
    if (!rights.writable) continue
    for (const sequence of await sequencesOf(db, table))
      await sql`grant usage, select on sequence ${sql.id(role.schema, sequence)} to ${name}`.execute(db)
  }
}

/** Tables of this connection's schema that the role cannot read, for instance after a restore or because they are new. */
export async function tablesOutOfReach(db: QueryExecutorProvider, role: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where ${ownTable} and not (
      has_schema_privilege(${role}, relnamespace, 'usage') and has_table_privilege(${role}, oid, 'select')
    )
  `.execute(db)
  return rows.map(({ name }) => name)
}

/** Tables and views of this connection's schema on which the service's user may grant privileges. */
const ownTable = sql`${isOwnRelation} and relkind in ('r', 'p', 'v', 'm', 'f')
  and pg_has_role(relowner, 'usage')`

function rightsIn({ writable, updatable }: TableRights): RawBuilder<unknown>[] {
  if (writable) return [sql`select, insert, update, delete`]
  const columns = updatable.map(column => sql.id(column))
  return [sql`select`, ...(columns.length > 0 ? [sql`update (${sql.join(columns)})`] : [])]
}

async function ownTables(db: QueryExecutorProvider): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where ${ownTable} order by relname
  `.execute(db)
  return rows.map(({ name }) => name)
}

async function sequencesOf(db: QueryExecutorProvider, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select sequences.relname as name from pg_depend
    join pg_class as sequences on sequences.oid = pg_depend.objid and sequences.relkind = 'S'
    where pg_depend.refclassid = 'pg_class'::regclass and pg_depend.refobjid = ${quoted(table)}::regclass
      and pg_depend.classid = 'pg_class'::regclass
      and sequences.relnamespace = current_schema()::regnamespace
  `.execute(db)
  return rows.map(({ name }) => name)
}

/** Drops the role, after the schema with the privileges in it. */
export async function dropRole(pool: Pool, schema: string): Promise<void> {
  const { rows } = await pool.query<{ oid: number; name: string }>(
    'select oid::bigint as oid, datname as name from pg_database where datname = current_database()',
  )
  const [database] = rows
  const role = nameOf(database?.oid, schema)
  const { rowCount } = await pool.query('select 1 from pg_roles where rolname = $1', [role])
  if (database === undefined || rowCount === 0) return
  const revoke = `revoke all on database ${quoted(database.name)} from ${quoted(role)}`
  // The statements of one text are one transaction.
  await pool.query([holdDatabase, revoke, `drop role if exists ${quoted(role)}`].join('; '))
}

/** Locks the role: processes that prepare it at once would conflict in the server's catalogs. */
async function holdRole(db: QueryExecutorProvider, role: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${role}, 0))`.execute(db)
}

async function hasRole(db: QueryExecutorProvider, role: string): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_roles where rolname = ${role}`.execute(db)
  return rows.length > 0
}

/** Returns the server's form of the password (RFC 5803), so that no log of statements can hold it. */
function verifierOf({ name, password }: RoleSettings): string {
  const iterations = 4096
  const salt = createHash('sha256').update(`salt of ${name}`).digest().subarray(0, 16)
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64')
  const serverKey = keyed('Server Key').toString('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`
}
