import type { Kysely } from 'kysely'
import { listOf } from '#platform/http/lists/list-of.ts'
import { listRows } from '#platform/http/lists/list-query.ts'
import type { ValueOf } from '#platform/prepared-query.ts'
import { prepareQuery } from '#platform/prepared-query.ts'
import { auditTables } from '#storage/tables/audit.ts'
import type { PlatformTables } from '#storage/tables.ts'
import type { AuditQuery, AuditRow } from './audit.schema.ts'
import { auditFields, auditFilters } from './audit.schema.ts'

type Database = Kysely<PlatformTables>

const auditList = listOf(auditTables.columns.audit_log, {
  sortable: ['id', 'created_at', ...auditFilters],
  searchable: ['actor_id', 'actor_name', 'actor_person', 'address', 'operation', 'object'],
})

/** Adds a row, once for each id. */
export const insertAuditRow = prepareQuery((database: Database, value: ValueOf<keyof AuditRow>) => {
  const row = Object.fromEntries(auditFields.map(field => [field, value(field)])) as unknown as AuditRow
  return database
    .insertInto('audit_log')
    .values(row)
    .onConflict(conflict => conflict.doNothing())
})

/** Of an agent, or of all agents that a person owns or administers, with the person's own beside agents. */
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

/** In portions, since SQLite blocks the process meanwhile. */
const portion = 500

export async function removeAuditRows(
  database: Database,
  [field, operator, value]: ['agent_id', '=', string] | ['created_at', '<', string],
): Promise<void> {
  const ids = database.selectFrom('audit_log').select('id').where(field, operator, value).limit(portion)
  const some = database.deleteFrom('audit_log').where('id', 'in', ids)
  while ((await some.executeTakeFirst()).numDeletedRows === BigInt(portion));
}
