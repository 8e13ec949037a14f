import type { Kysely } from 'kysely'
import type { ListDefinition, Page } from '#platform/http/lists/list-query.ts'
import { listRows } from '#platform/http/lists/list-query.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Definition, WorkflowListQuery, WorkflowSummary } from './workflows.schema.ts'

type Database = Kysely<AgentTables>
type Row = AgentTables['workflows']

/** The kind under which workflows subscribe to events. */
export const subscriberKind = 'workflow'

const columns = [
  'id',
  'name',
  'description',
  'status',
  'version',
  'concurrency',
  'keep',
  'tool',
  'created_at',
  'updated_at',
] as const

const workflowList: ListDefinition<Row> = {
  sortable: {
    id: { column: 'id' },
    name: { column: 'name' },
    description: { column: 'description' },
    status: { column: 'status' },
    created_at: { column: 'created_at' },
    updated_at: { column: 'updated_at' },
  },
  defaultSort: ['created_at'],
  defaultOrder: 'desc',
  searchable: ['name', 'description'],
  dateColumn: 'created_at',
  unique: { column: 'id' },
}

export async function listWorkflows(
  database: Database,
  query: WorkflowListQuery,
): Promise<Page<WorkflowSummary>> {
  let workflows = database.selectFrom('workflows').select(columns)
  if (query.status !== undefined) workflows = workflows.where('status', 'in', query.status)
  const { rows, meta } = await listRows(workflows, workflowList, query)
  return { rows: rows.map(toSummary), meta }
}

export async function findWorkflow(database: Database, id: string): Promise<WorkflowSummary | undefined> {
  const row = await database.selectFrom('workflows').select(columns).where('id', '=', id).executeTakeFirst()
  return row && toSummary(row)
}

/** The active workflows that models are offered. */
export async function listOffered(database: Database): Promise<WorkflowSummary[]> {
  const rows = await database
    .selectFrom('workflows')
    .select(columns)
    .where('status', '=', 'active')
    .where('tool', 'is not', null)
    .orderBy('created_at')
    .limit(1000)
    .execute()
  return rows.map(toSummary)
}

export async function findDefinition(
  database: Database,
  id: string,
  version: number,
): Promise<Definition | undefined> {
  const row = await database
    .selectFrom('workflow_versions')
    .select(['nodes', 'edges'])
    .where('workflow_id', '=', id)
    .where('version', '=', version)
    .executeTakeFirst()
  return row && { nodes: JSON.parse(row.nodes), edges: JSON.parse(row.edges) }
}

export async function putWorkflow(database: Database, { tool, ...workflow }: WorkflowSummary): Promise<void> {
  const row: Row = { ...workflow, tool: tool && JSON.stringify(tool) }
  await database
    .insertInto('workflows')
    .values(row)
    .onConflict(conflict => conflict.column('id').doUpdateSet(row))
    .execute()
}

export async function insertVersion(
  database: Database,
  { id: workflow_id, version, updated_at: created_at }: WorkflowSummary,
  { nodes, edges }: Definition,
): Promise<void> {
  const definition = { nodes: JSON.stringify(nodes), edges: JSON.stringify(edges) }
  await database
    .insertInto('workflow_versions')
    .values({ workflow_id, version, created_at, ...definition })
    .execute()
}

/** Replaces what starts the workflow; no event stands for none. */
export async function subscribe(database: Database, ref: string, event: string | undefined): Promise<void> {
  const kind = subscriberKind
  await database.deleteFrom('event_subscriptions').where('kind', '=', kind).where('ref', '=', ref).execute()
  if (event !== undefined)
    await database.insertInto('event_subscriptions').values({ event, kind, ref }).execute()
}

/** With its versions and its address. */
export async function deleteWorkflow(database: Database, id: string): Promise<void> {
  await database.deleteFrom('workflows').where('id', '=', id).execute()
}

export async function findHooked(database: Database, tokenHash: string): Promise<string | undefined> {
  const row = await database
    .selectFrom('workflow_hooks')
    .select('workflow_id')
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()
  return row?.workflow_id
}

/** Voids the former address; without a hash there is none any more. False if there was none. */
export async function replaceHook(
  database: Database,
  workflow_id: string,
  token_hash?: string,
): Promise<boolean> {
  const { numDeletedRows } = await database
    .deleteFrom('workflow_hooks')
    .where('workflow_id', '=', workflow_id)
    .executeTakeFirstOrThrow()
  if (token_hash !== undefined)
    await database.insertInto('workflow_hooks').values({ workflow_id, token_hash }).execute()
  return numDeletedRows > 0n
}

function toSummary({ status, keep, tool, ...row }: Row): WorkflowSummary {
  return {
    ...row,
    status: status as WorkflowSummary['status'],
    keep: keep as WorkflowSummary['keep'],
    tool: tool === null ? null : JSON.parse(tool),
  }
}
