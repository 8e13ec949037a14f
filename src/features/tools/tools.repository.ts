import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { approvalRules } from '#models/tools/approval-rule.ts'
import { mapInBatches } from '#platform/event-loop/in-batches.ts'
import { parseJson } from '#platform/exact-json.ts'
import { listLarge } from '#platform/http/lists/list-large.ts'
import { listOf } from '#platform/http/lists/list-of.ts'
import type { Page } from '#platform/http/lists/list-query.ts'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import { toolTables } from '#storage/tables/tools.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { AgentTool, ToolListQuery, ToolType } from './tools.schema.ts'

type Database = Kysely<AgentTables>
type ToolRow = Awaited<ReturnType<ReturnType<typeof selectTools>['execute']>>[number]
/** A tool with the id of its secrets, which is internal. */
export interface StoredTool extends AgentTool {
  secretSet: string | null
}

const toolList = listOf(toolTables.columns.tools, {
  sortable: {
    id: 'id',
    name: 'name',
    description: 'description',
    type: 'type',
    cluster: 'cluster',
    isEnabled: 'is_enabled',
    created_at: 'created_at',
    updated_at: 'updated_at',
  },
  searchable: ['name', 'description', 'cluster'],
  by: ['cluster', 'name'],
  order: 'asc',
})

function selectTools(database: Database) {
  return database.selectFrom('tools').selectAll()
}

/** Selects the places in a list, which are read before the tools, because these can be large. */
function selectPlaces(database: Database) {
  const size = sql<number>`octet_length(description) + octet_length(configuration)`
  return database.selectFrom('tools').select([...toolList.columns, size.as('size')])
}

const selectOfferable = prepareQuery((database: Database, _value: ValueOf<never>) =>
  selectTools(database)
    .where(({ eb, or }) => or([eb('is_enabled', '=', 1), eb('type', '=', 'mcp')]))
    .orderBy('cluster')
    .orderBy('name')
    .orderBy('id'),
)

/** Tools that are read before the loop yields: an agent can have thousands, of some kilobytes each. */
const offerableAtOnce = 100

export async function listTools(database: Database, query: ToolListQuery): Promise<Page<StoredTool>> {
  let tools = selectPlaces(database)
  if (query.type !== undefined) tools = tools.where('type', 'in', query.type)
  if (query.cluster !== undefined) tools = tools.where('cluster', 'in', query.cluster)
  const { rows, meta } = await listLarge(tools, toolList, query, {
    key: 'id',
    read: ids => selectTools(database).where('id', 'in', ids).execute(),
  })
  return { rows: rows.map(toTool), meta }
}

/** Lists the enabled tools and all of type `mcp`, by cluster, then name: those without a cluster come first. */
export async function listOfferable(database: Database): Promise<readonly StoredTool[]> {
  return mapInBatches(await selectOfferable(database, {}), offerableAtOnce, toTool)
}

export async function listCluster(database: Database, cluster: string): Promise<StoredTool[]> {
  const rows = await selectTools(database).where('cluster', '=', cluster).orderBy('name').execute()
  return rows.map(toTool)
}

export async function findTool(database: Database, id: string): Promise<StoredTool | undefined> {
  const row = await selectTools(database).where('id', '=', id).executeTakeFirst()
  return row === undefined ? undefined : toTool(row)
}

/** True if another tool than `id` has the name in the cluster. */
export async function isNameTaken(
  database: Database,
  { id, name, cluster = '' }: AgentTool,
): Promise<boolean> {
  const row = await database
    .selectFrom('tools')
    .select('id')
    .where('cluster', '=', cluster)
    .where('name', '=', name)
    .where('id', '!=', id)
    .executeTakeFirst()
  return row !== undefined
}

/** Stores the tools, replacing those with the same id. */
export async function putTools(database: Database, tools: readonly StoredTool[]): Promise<void> {
  const atOnce = 50
  for (let start = 0; start < tools.length; start += atOnce) {
    // A query with so many values takes milliseconds to build, and an import can have thousands.
    if (start > 0) await yieldToOthers()
    await database
      .insertInto('tools')
      .values(tools.slice(start, start + atOnce).map(toRow))
      .onConflict(conflict =>
        conflict.column('id').doUpdateSet(({ ref }) => ({
          name: ref('excluded.name'),
          description: ref('excluded.description'),
          configuration: ref('excluded.configuration'),
          is_enabled: ref('excluded.is_enabled'),
          requires_approval: ref('excluded.requires_approval'),
          approvers: ref('excluded.approvers'),
          cluster: ref('excluded.cluster'),
          secret_set: ref('excluded.secret_set'),
          updated_at: ref('excluded.updated_at'),
        })),
      )
      .execute()
  }
}

/** Returns undefined if there is no such tool. */
export async function deleteTool(
  database: Database,
  id: string,
): Promise<Pick<StoredTool, 'secretSet'> | undefined> {
  const deletion = database.deleteFrom('tools').where('id', '=', id)
  return await deletion.returning('secret_set as secretSet').executeTakeFirst()
}

export async function deleteTools(database: Database, cluster: string): Promise<void> {
  await database.deleteFrom('tools').where('cluster', '=', cluster).execute()
}

function toTool(row: ToolRow): StoredTool {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    type: row.type as ToolType,
    configuration: parseJson(row.configuration),
    isEnabled: row.is_enabled === 1,
    requiresApproval: approvalRules[row.requires_approval] ?? 'always',
    approvers: row.approvers === 'chat' ? 'chat' : 'admins',
    ...(row.cluster === '' ? {} : { cluster: row.cluster }),
    secretSet: row.secret_set,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

function toRow(tool: StoredTool): ToolRow {
  return {
    id: tool.id,
    name: tool.name,
    description: tool.description,
    type: tool.type,
    configuration: JSON.stringify(tool.configuration),
    is_enabled: tool.isEnabled ? 1 : 0,
    requires_approval: approvalRules.indexOf(tool.requiresApproval),
    approvers: tool.approvers,
    cluster: tool.cluster ?? '',
    secret_set: tool.secretSet,
    created_at: tool.created_at,
    updated_at: tool.updated_at,
  }
}
