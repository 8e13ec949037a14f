/** Reads everything that waits for a person, in a few queries by an index or of a small table. */
import { type SelectQueryBuilder, sql } from 'kysely'
import type { AgentTables, AgentDatabase as Database } from '#storage/tables.ts'
import type { AttentionItem, AttentionKind } from './overview.schema.ts'

/** Max items of one kind, the newest. */
const maxItems = 100
/** UTF-16 units. */
const maxDetail = 300

interface Row {
  id: string
  title: string
  detail: string | null
  at: string
  /** Ids of the related objects. */
  conversation_id?: string
  message_id?: string
  execution_id?: string
  workflow_id?: string
  node_id?: string
  server_id?: string
  session_id?: string
}

type Rows = SelectQueryBuilder<AgentTables, never, Row>

/** @param since failed executions that ended before it are left out. */
export async function readAttention(db: Database, { now, since }: { now: string; since: string }) {
  const lists = {
    tool_approval: toolApprovals(db),
    workflow_approval: waitingNodes(db, true),
    takeover: takeovers(db, now),
    mcp_definition: changedDefinitions(db),
    payment_notification: unmatched(db),
    waiting_execution: waitingNodes(db, false),
    failed_execution: failedExecutions(db, since),
    failed_source: failedSources(db),
    failed_notice: failedNotices(db, now),
  } satisfies Record<AttentionKind, unknown>
  const items: AttentionItem[] = []
  const counts: Partial<Record<AttentionKind, number>> = {}
  for (const [kind, list] of Object.entries(lists) as [AttentionKind, Rows][]) {
    const rows = await list
      .select(({ fn }) => fn.countAll().over().as('total'))
      .orderBy('at', 'desc')
      .limit(maxItems)
      .execute()
    counts[kind] = Number(rows[0]?.total ?? 0)
    for (const { total: _, detail, ...row } of rows)
      items.push({ kind, ...row, detail: (detail ?? '').slice(0, maxDetail).toWellFormed() })
  }
  items.sort((one, other) => (one.at < other.at ? 1 : -1))
  return { items, counts: counts as Record<AttentionKind, number> }
}

function toolApprovals(db: Database) {
  return db
    .selectFrom('tool_approvals')
    .select(['tool_call_id as id', 'name as title', 'created_at as at', 'conversation_id', 'message_id'])
    .select(sql<string>`substr(arguments, 1, 300)`.as('detail'))
    .where('status', '=', sql.lit('pending'))
}

/** Returns nodes of executions that wait: for a decision, or for a time. */
function waitingNodes(db: Database, isApproval: boolean) {
  return (
    db
      .selectFrom('executions')
      .innerJoin('node_results', 'node_results.execution_id', 'executions.id')
      .leftJoin('workflows', 'workflows.id', 'executions.workflow_id')
      .select(['executions.id as execution_id', 'executions.workflow_id', 'node_results.node_id'])
      .select(({ fn, ref }) => [
        sql<string>`executions.id || '/' || node_id || '/' || path`.as('id'),
        fn.coalesce('workflows.name', ref('executions.workflow_id')).as('title'),
      ])
      .select(
        sql<
          string | null
        >`case when node_results.output is null then due_at else substr(node_results.output, 1, 300) end`.as(
          'detail',
        ),
      )
      .select('node_results.started_at as at')
      .where('waiting_until', 'is not', null)
      .where('node_results.status', '=', 'waiting')
      .where(sql<string>`coalesce(node_results.output, '')`, isApproval ? 'like' : 'not like', '%"approval"%')
      // The call that its turn waits with is listed separately.
      .where(sql<string>`coalesce(node_results.output, '')`, '!=', '{"turn":true}')
  )
}

function takeovers(db: Database, now: string) {
  return db
    .selectFrom('browser_sessions')
    .select(['id', 'id as session_id', 'last_activity as at', 'profile as detail'])
    .select(sql<string>`'Browser session'`.as('title'))
    .where('status', '=', 'takeover')
    .where('lease_until', '>=', now)
}

function changedDefinitions(db: Database) {
  return db
    .selectFrom('mcp_tools')
    .innerJoin('mcp_servers', 'mcp_servers.id', 'mcp_tools.server_id')
    .select(['mcp_tools.server_id', 'mcp_tools.name as title', 'mcp_servers.name as detail'])
    .select(['mcp_servers.updated_at as at', sql<string>`server_id || '/' || mcp_tools.name`.as('id')])
    .where('position', 'is not', null)
    .where(({ eb, or, ref }) =>
      or([eb('approved_hash', 'is', null), eb('approved_hash', '!=', ref('definition_hash'))]),
    )
}

function unmatched(db: Database) {
  return db
    .selectFrom('payment_notifications')
    .select(['id', 'gateway as title', 'message as detail', 'created_at as at'])
    .where('status', '=', sql.lit('unmatched'))
}

function failedExecutions(db: Database, since: string) {
  return db
    .selectFrom('executions')
    .leftJoin('workflows', 'workflows.id', 'executions.workflow_id')
    .select(['executions.id', 'executions.id as execution_id', 'executions.workflow_id', 'error as detail'])
    .select(({ fn, ref }) => fn.coalesce('workflows.name', ref('executions.workflow_id')).as('title'))
    .select(({ ref }) => ref('completed_at').$notNull().as('at'))
    .where('executions.status', '=', sql.lit('errored'))
    .where('completed_at', '>=', since)
}

function failedSources(db: Database) {
  return db
    .selectFrom('sources')
    .select(['id', 'name as title', 'error as detail', 'updated_at as at'])
    .where('status', '=', 'error')
    .where('removed_at', 'is', null)
}

/** Returns failed notices whose decision is still open. */
function failedNotices(db: Database, now: string) {
  return db
    .selectFrom('notices')
    .select(['id', 'channel as title', 'error as detail', 'created_at as at'])
    .where('error', 'is not', null)
    .where('expires_at', '>', now)
}
