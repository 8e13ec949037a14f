import type { Kysely, Selectable } from 'kysely'
import { parseJson } from '#platform/exact-json.ts'
import { listOf } from '#platform/http/lists/list-of.ts'
import { listRows, type Page } from '#platform/http/lists/list-query.ts'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import { workflowTables } from '#storage/tables/workflows.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Definition, WorkflowListQuery, WorkflowSummary } from '../workflows.schema.ts'

type Database = Kysely<AgentTables>
type Row = Omit<Selectable<AgentTables['workflows']>, 'hook_hash'>

/** The subscriber kind of workflows. */
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
  'concurrency_counts_waiting',
] as const

const workflowList = listOf(workflowTables.columns.workflows, {
  sortable: ['id', 'name', 'description', 'status', 'created_at', 'updated_at'],
  searchable: ['name', 'description'],
})

export async function listWorkflows(database: Database, query: WorkflowListQuery) {
  let workflows = database.selectFrom('workflows').select(columns)
  if (query.status !== undefined) workflows = workflows.where('status', 'in', query.status)
  const { rows, meta } = await listRows(workflows, workflowList, query)
  return { rows: rows.map(toSummary), meta } satisfies Page<WorkflowSummary>
}

export async function findWorkflow(database: Database, id: string): Promise<WorkflowSummary | undefined> {
  const [row] = await selectWorkflow(database, { id })
  return row && toSummary(row)
}

const selectWorkflow = prepareQuery((database: Database, value: ValueOf<'id'>) =>
  database.selectFrom('workflows').select(columns).where('id', '=', value('id')),
)

/** Lists the active workflows that are offered to models. */
export async function listOffered(database: Database, limit: number): Promise<WorkflowSummary[]> {
  const rows = await database
    .selectFrom('workflows')
    .select(columns)
    .where('status', '=', 'active')
    .where('tool', 'is not', null)
    .orderBy('created_at')
    .limit(limit)
    .execute()
  return rows.map(toSummary)
}

function toSummary({ status, keep, tool, concurrency_counts_waiting, ...row }: Row): WorkflowSummary {
  return {
    ...row,
    status: status as WorkflowSummary['status'],
    keep: keep as WorkflowSummary['keep'],
    tool: tool === null ? null : parseJson(tool),
    concurrency_counts_waiting: concurrency_counts_waiting !== 0,
  }
}

/** Creates or changes a workflow. */
export async function putWorkflow(
  database: Database,
  { tool, concurrency_counts_waiting, ...workflow }: WorkflowSummary,
): Promise<void> {
  const countsWaiting = { concurrency_counts_waiting: Number(concurrency_counts_waiting) }
  const row: Row = { ...workflow, ...countsWaiting, tool: tool && JSON.stringify(tool) }
  await database
    .insertInto('workflows')
    .values(row)
    .onConflict(conflict => conflict.column('id').doUpdateSet(row))
    .execute()
}

/** Deletes a workflow with its versions and its secret address. */
export async function deleteWorkflow(database: Database, id: string): Promise<void> {
  await database.deleteFrom('workflows').where('id', '=', id).execute()
}

export interface Version extends Definition {
  secret_set: string | null
}

export async function findVersion(
  database: Database,
  id: string,
  version: number,
): Promise<Version | undefined> {
  const [row] = await selectVersion(database, { id, version })
  return row && { ...row, nodes: parseJson(row.nodes), edges: JSON.parse(row.edges) }
}

const selectVersion = prepareQuery((database: Database, value: ValueOf<'id' | 'version'>) =>
  database
    .selectFrom('workflow_versions')
    .select(['nodes', 'edges', 'secret_set'])
    .where('workflow_id', '=', value('id'))
    .where('version', '=', value<number>('version')),
)

export async function insertVersion(
  database: Database,
  { id: workflow_id, version, updated_at: created_at }: WorkflowSummary,
  { nodes, edges, secret_set }: Version,
): Promise<void> {
  const definition = { nodes: JSON.stringify(nodes), edges: JSON.stringify(edges), secret_set }
  const row = { workflow_id, version, created_at, ...definition }
  await database.insertInto('workflow_versions').values(row).execute()
}

export async function listSecretSets(database: Database, id: string): Promise<(string | null)[]> {
  const versions = database.selectFrom('workflow_versions').where('workflow_id', '=', id)
  const rows = await versions.select('secret_set').distinct().execute()
  return rows.map(({ secret_set }) => secret_set)
}

/** Replaces the event that starts the workflow; undefined removes it. */
export async function subscribe(database: Database, ref: string, event: string | undefined): Promise<void> {
  const kind = subscriberKind
  await database.deleteFrom('event_subscriptions').where('kind', '=', kind).where('ref', '=', ref).execute()
  if (event !== undefined)
    await database.insertInto('event_subscriptions').values({ event, kind, ref }).execute()
}

/** Finds the workflow whose secret address has this hash. */
export async function findHooked(database: Database, hook_hash: string): Promise<string | undefined> {
  const hooked = database.selectFrom('workflows').where('hook_hash', '=', hook_hash)
  return (await hooked.select('id').executeTakeFirst())?.id
}

/** Sets or clears the secret address; false if the workflow is missing, or has no address to clear. */
export async function setHook(database: Database, id: string, hook_hash: string | null): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable('workflows')
    .set({ hook_hash })
    .where('id', '=', id)
    .$if(hook_hash === null, query => query.where('hook_hash', 'is not', null))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
