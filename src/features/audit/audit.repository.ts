import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { listOf } from '#platform/http/lists/list-of.ts'
import { listRows, readPages } from '#platform/http/lists/list-query.ts'
import type { ValueOf } from '#platform/prepared-query.ts'
import { prepareQuery } from '#platform/prepared-query.ts'
import { auditTables } from '#storage/tables/audit.ts'
import type { PlatformTables } from '#storage/tables.ts'
import type { AuditQuery } from './audit.schema.ts'

type Database = Kysely<PlatformTables>
export type AuditRow = PlatformTables['audit_log']

const columns = Object.keys(auditTables.columns.audit_log) as (keyof AuditRow)[]

const auditList = listOf(auditTables.columns.audit_log, {
  sortable: ['id', 'created_at', 'actor_kind', 'actor_id', 'operation', 'object', 'outcome'],
  searchable: ['operation', 'object', 'actor_id', 'actor_name', 'actor_person', 'address'],
})

const insertRow = prepareQuery((database: Database, value: ValueOf<keyof AuditRow>) =>
  database
    .insertInto('audit_log')
    .columns(columns)
    .expression(
      database
        .selectNoFrom(columns.map(name => sql<string>`cast(${value(name)} as text)`.as(name)))
        .where(({ or, exists, selectFrom }) =>
          or([
            sql<boolean>`cast(${value('agent_id')} as text) is null`,
            exists(selectFrom('agents').select('id').where('agents.id', '=', value('agent_id'))),
          ]),
        ),
    )
    .onConflict(conflict => conflict.doNothing()),
)

/** Adds a row, once for each id; none for an agent that does not exist. */
export async function insertAuditRow(database: Database, row: AuditRow): Promise<void> {
  await insertRow(database, row)
}

/** Whose rows: those of an agent, or those of all agents that a person owns or administers, with their own beside agents. */
export type Scope = { agentId: string } | { email: string }

function selectRows(database: Database, scope: Scope, query: AuditQuery) {
  let rows = database.selectFrom('audit_log').select(columns)
  for (const [column, wanted] of [
    ['actor_kind', query.actor_kind],
    ['actor_id', query.actor],
    ['operation', query.operation],
    ['object', query.object],
    ['outcome', query.outcome],
  ] as const)
    if (wanted !== undefined) rows = rows.where(column, 'in', wanted)
  if ('agentId' in scope) return rows.where('agent_id', '=', scope.agentId)
  const { email } = scope
  return rows.where(({ or, and, eb, selectFrom }) => {
    const entries = selectFrom('agent_admins').select('agent_id').where('email', '=', email)
    return or([
      eb('agent_id', 'in', entries.where('role', 'in', ['owner', 'admin'])),
      and([
        eb('agent_id', 'is', null),
        or([
          and([eb('actor_kind', '=', 'person'), eb('actor_id', '=', email)]),
          eb('actor_person', '=', email),
        ]),
      ]),
    ])
  })
}

export const listAudit = (database: Database, scope: Scope, query: AuditQuery) =>
  listRows(selectRows(database, scope, query), auditList, query)

export const readAudit = (database: Database, scope: Scope, query: AuditQuery) =>
  readPages(selectRows(database, scope, query), auditList, query)

/** Rows that one statement removes, since SQLite blocks the process meanwhile. */
const portion = 500

/** Removes the rows of an agent, or those from before a time. */
export async function removeAuditRows(
  database: Database,
  [column, value]: ['agent_id' | 'created_at', string],
): Promise<void> {
  for (let removed = portion; removed === portion; ) {
    const some = database.selectFrom('audit_log').select('id').limit(portion)
    const old = some.where(column, column === 'agent_id' ? '=' : '<', value)
    const { numDeletedRows } = await database
      .deleteFrom('audit_log')
      .where('id', 'in', old)
      .executeTakeFirstOrThrow()
    removed = Number(numDeletedRows)
  }
}
