import { type Kysely, sql } from 'kysely'
import { parseJson } from '#platform/exact-json.ts'
import { listLarge } from '#platform/http/lists/list-large.ts'
import { listOf } from '#platform/http/lists/list-of.ts'
import type { Page } from '#platform/http/lists/list-query.ts'
import { chatTables } from '#storage/tables/chat.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Approval, ApprovalListQuery, ApprovalStatus } from '../approvals.schema.ts'
import type { ChatMessage } from '../chat.schema.ts'
import type { Reach } from '../reach.ts'
import type { WaitingCall } from '../turn/turn.ts'
import { ownTurns } from './messages.repository.ts'
import { type TurnStatus, waitingOf } from './turns.repository.ts'

type Database = Kysely<AgentTables>
type ApprovalRow = Awaited<ReturnType<ReturnType<typeof selectApprovals>['execute']>>[number]
/** An approval with the tool's version at the time of the call. */
export interface StoredApproval extends Approval {
  toolVersion: string
}

const approvalList = listOf(chatTables.columns.tool_approvals, {
  sortable: {
    id: 'tool_call_id',
    toolCallId: 'tool_call_id',
    name: 'name',
    status: 'status',
    createdAt: 'created_at',
    decidedAt: 'decided_at',
  },
  searchable: ['name', 'arguments'],
  by: ['createdAt'],
  unique: 'tool_call_id',
})

function selectApprovals(database: Database, reach: Reach = 'all') {
  return within(database, reach)
    .leftJoin('turns', join =>
      join.onRef('turns.id', '=', 'message_id').on('turns.status', '=', 'waiting' satisfies TurnStatus),
    )
    .selectAll('tool_approvals')
    .select('turns.waiting')
}

/** Limits approvals to own turns in own conversations, for a caller that reaches no others. */
function within(database: Database, reach: Reach) {
  const approvals = database.selectFrom('tool_approvals')
  return reach === 'all' ? approvals : approvals.where('message_id', 'in', ownTurns(database, reach))
}

/** Selects the places in a list, which are read before the approvals, because their arguments can be large. */
function selectPlaces(database: Database, reach: Reach) {
  return within(database, reach).select([
    ...approvalList.columns,
    sql<number>`octet_length(arguments)`.as('size'),
  ])
}

export async function listApprovals(
  database: Database,
  query: ApprovalListQuery,
  reach: Reach,
): Promise<Page<Approval>> {
  let approvals = selectPlaces(database, reach)
  if (query.status !== undefined) approvals = approvals.where('status', 'in', query.status)
  if (query.conversationId !== undefined)
    approvals = approvals.where('conversation_id', '=', query.conversationId)
  const { rows, meta } = await listLarge(approvals, approvalList, query, {
    key: 'tool_call_id',
    read: ids => selectApprovals(database).where('tool_call_id', 'in', ids).execute(),
  })
  return { rows: rows.map(toApproval), meta }
}

export async function findApproval(
  database: Database,
  toolCallId: string,
  reach: Reach,
): Promise<StoredApproval | undefined> {
  const row = await selectApprovals(database, reach).where('tool_call_id', '=', toolCallId).executeTakeFirst()
  return row === undefined ? undefined : { ...toApproval(row), toolVersion: row.tool_version }
}

/** Stores the calls of an answer that wait for a person; earlier rows remain. */
export async function putApprovals(database: Database, message: ChatMessage): Promise<void> {
  const waiting = message.toolResults?.filter(({ approval }) => approval === 'required') ?? []
  for (const { toolCallId, name, toolVersion = '' } of waiting) {
    const call = message.toolCalls?.find(({ id }) => id === toolCallId)
    await database
      .insertInto('tool_approvals')
      .values({
        tool_call_id: toolCallId,
        name,
        arguments: JSON.stringify(call?.arguments ?? {}),
        tool_version: toolVersion,
        conversation_id: message.conversationId,
        message_id: message.id,
        status: 'pending' satisfies ApprovalStatus,
        created_at: message.createdAt,
        decided_at: null,
      })
      .onConflict(conflict => conflict.column('tool_call_id').doNothing())
      .execute()
  }
}

/** Stores the call that a turn waits with. */
export async function requestApproval(
  database: Database,
  { call, at, ...place }: { conversation_id: string; message_id: string; call: WaitingCall; at: string },
): Promise<void> {
  const { id: tool_call_id, name, arguments: given, toolVersion: tool_version } = call
  await database
    .insertInto('tool_approvals')
    .values({
      ...place,
      tool_call_id,
      name,
      arguments: JSON.stringify(given),
      tool_version,
      status: 'pending' satisfies ApprovalStatus,
      created_at: at,
      decided_at: null,
    })
    .onConflict(conflict => conflict.column('tool_call_id').doNothing())
    .execute()
}

/** Settles an ended answer's approvals: approved calls were made if the turn had continued; pending ones never will be. */
export async function settleApprovals(
  database: Database,
  messageId: string,
  at: string,
  approved: 'done' | 'denied' = 'done',
): Promise<void> {
  const moves = { approved, pending: 'denied' } satisfies Partial<Record<ApprovalStatus, ApprovalStatus>>
  for (const [from, status] of Object.entries(moves))
    await database
      .updateTable('tool_approvals')
      .set({ status, ...(status === 'denied' && { decided_at: at }) })
      .where('message_id', '=', messageId)
      .where('status', '=', from)
      .execute()
}

/** Returns false, and changes nothing, if the approval has another status than `from`. */
export async function moveApproval(
  database: Database,
  toolCallId: string,
  { from, to, decidedAt }: { from: ApprovalStatus; to: ApprovalStatus; decidedAt: string },
): Promise<boolean> {
  const result = await database
    .updateTable('tool_approvals')
    .set({ status: to, decided_at: decidedAt })
    .where('tool_call_id', '=', toolCallId)
    .where('status', '=', from)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

function toApproval(row: ApprovalRow): Approval {
  const { approval_id, rule, why, sends_to, approvers, until } = waitingOf(row)
  const sent = sends_to === undefined ? {} : { sends_to }
  const approval = {
    toolCallId: row.tool_call_id,
    name: row.name,
    arguments: parseJson(row.arguments),
    conversationId: row.conversation_id,
    messageId: row.message_id,
    status: row.status as ApprovalStatus,
    createdAt: row.created_at,
    ...(approval_id === row.tool_call_id && { waiting: { rule, why, ...sent, approvers, until } }),
  }
  return row.decided_at === null ? approval : { ...approval, decidedAt: row.decided_at }
}
