import type { Kysely } from 'kysely'
import { listOf } from '#platform/http/lists/list-of.ts'
import { listRows } from '#platform/http/lists/list-query.ts'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import { auditTables } from '#storage/tables/audit.ts'
import type { PlatformTables } from '#storage/tables.ts'
import { type AuditQuery, type AuditRow, auditFields, auditFilters } from './audit.schema.ts'

type Database = Kysely<PlatformTables>

const auditList = listOf(auditTables.columns.audit_log, {
  sortable: ['id', 'created_at', ...auditFilters],
  searchable: ['actor_id', 'actor_name', 'actor_person', 'address', 'operation', 'object'],
})

/** Rows that one statement adds: a statement costs more than a row. */
const batch = 50
const insertOne = insertOf(1)
const insertBatch = insertOf(batch)

/** Adds rows, once for each id. */
export async function insertAuditRows(database: Database, rows: readonly AuditRow[]): Promise<void> {
  let at = 0
  for (; at + batch <= rows.length; at += batch)
    await insertBatch(database, valuesOf(rows.slice(at, at + batch)))
  for (; at < rows.length; at += 1) await insertOne(database, valuesOf(rows.slice(at, at + 1)))
}

const nameOf = (field: keyof AuditRow, at: number) => `${field} ${at}`

function valuesOf(rows: readonly AuditRow[]): Record<string, unknown> {
  return Object.fromEntries(
    rows.flatMap((row, at) => auditFields.map(field => [nameOf(field, at), row[field]])),
  )
}

function insertOf(count: number) {
  return prepareQuery((database: Database, value: ValueOf<string>) => {
    const rows = Array.from({ length: count }, (_, at) =>
      Object.fromEntries(auditFields.map(field => [field, value(nameOf(field, at))])),
    )
    return database
      .insertInto('audit_log')
      .values(rows as unknown as AuditRow[])
      .onConflict(conflict => conflict.doNothing())
  })
}

/** An agent, or all agents that a person manages, with the person's own rows outside of agents. */
export type Scope = { agentId: string } | { email: string }

export function listAudit(database: Database, scope: Scope, query: AuditQuery) {
  let rows = database.selectFrom('audit_log').select(auditFields)
  for (const field of auditFilters)
    if (query[field] !== undefined) rows = rows.where(field, 'in', query[field])
  if ('agentId' in scope) return listRows(rows.where('agent_id', '=', scope.agentId), auditList, query)
  const { email } = scope
  const visible = rows.where(({ or, and, eb, selectFrom }) => {
    const roles = selectFrom('agent_admins').select('agent_id').where('email', '=', email)
    const isOwn = or([and({ actor_kind: 'person', actor_id: email }), eb('actor_person', '=', email)])
    const isManaged = eb('agent_id', 'in', roles.where('role', 'in', ['owner', 'admin']))
    return or([isManaged, and([eb('agent_id', 'is', null), isOwn])])
  })
  return listRows(visible, auditList, query)
}

/** Rows are deleted in batches, because SQLite blocks the process meanwhile. */
const portion = 500

export async function removeAuditRows(
  database: Database,
  [field, operator, value]: ['agent_id', '=', string] | ['created_at', '<', string],
): Promise<void> {
  const ids = database.selectFrom('audit_log').select('id').where(field, operator, value).limit(portion)
  const some = database.deleteFrom('audit_log').where('id', 'in', ids)
  while ((await some.executeTakeFirst()).numDeletedRows === BigInt(portion));
}
