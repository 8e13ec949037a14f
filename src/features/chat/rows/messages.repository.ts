import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import { fitting, listLarge } from '#platform/http/lists/list-large.ts'
import { listOf } from '#platform/http/lists/list-of.ts'
import type { Page } from '#platform/http/lists/list-query.ts'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import { parseJsonColumn } from '#storage/json-column.ts'
import { chatTables } from '#storage/tables/chat.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { ChatMessage, Feedback, MessageListQuery, MessageMetadata } from '../chat.schema.ts'
import { authorsIn, type Reach } from '../reach.ts'
import type { SentTurn } from '../turn/prompt.ts'
import { reachedConversations } from './conversations.repository.ts'

type Database = Kysely<AgentTables>

/** A message with its place in the order of arrival. */
export type StoredMessage = ChatMessage & { sequence: number; sent?: SentTurn }

/** A message with the fields that only prompts repeat. */
export type PutMessage = ChatMessage & Pick<StoredMessage, 'sent'>

/** Returns a message in its public form. */
export function toPublic({ sequence: _, sent: __, ...message }: StoredMessage): ChatMessage {
  return message
}

type MessageRow = Awaited<ReturnType<ReturnType<typeof selectMessages>['execute']>>[number]

const messageList = listOf(chatTables.columns.messages, {
  sortable: {
    id: 'id',
    createdAt: 'sequence',
    conversationId: 'conversation_id',
    role: 'role',
    created_by: 'created_by',
  },
  searchable: ['content'],
  by: ['createdAt'],
  order: 'asc',
  unique: 'sequence',
})

function selectMessages(database: Database) {
  return database.selectFrom('messages').selectAll()
}

/** Selects the places in a list, which are read before the messages, because these can be large. */
function selectPlaces(database: Database) {
  const size = sql<number>`octet_length(content) + coalesce(octet_length(tool_calls), 0) + coalesce(octet_length(tool_results), 0) + coalesce(octet_length(sent), 0)`
  return database.selectFrom('messages').select([...messageList.columns, size.as('size')])
}

type Columns = Exclude<keyof AgentTables['messages'], 'sequence' | 'rating' | 'feedback'>

function insertValues(database: Database, value: ValueOf<Columns>) {
  return database.insertInto('messages').values({
    id: value('id'),
    conversation_id: value('conversation_id'),
    role: value('role'),
    content: value('content'),
    tool_calls: value('tool_calls'),
    tool_results: value('tool_results'),
    metadata: value('metadata'),
    sent: value('sent'),
    created_at: value('created_at'),
    created_by: value('created_by'),
  })
}

const insertOne = prepareQuery((database: Database, value: ValueOf<Columns>) =>
  insertValues(database, value).returning('sequence'),
)

const putOne = prepareQuery((database: Database, value: ValueOf<Columns>) =>
  insertValues(database, value).onConflict(conflict =>
    conflict.column('id').doUpdateSet(({ ref }) => ({
      content: ref('excluded.content'),
      tool_calls: ref('excluded.tool_calls'),
      tool_results: ref('excluded.tool_results'),
      metadata: ref('excluded.metadata'),
      sent: ref('excluded.sent'),
    })),
  ),
)

const selectBefore = prepareQuery(
  (database: Database, value: ValueOf<'conversationId' | 'before' | 'limit'>) =>
    selectMessages(database)
      .where('conversation_id', '=', value('conversationId'))
      .where('sequence', '<', value<number>('before'))
      .orderBy('sequence', 'desc')
      // SQLite would prepare the statement again each time for a bare parameter as the limit.
      .limit(sql<number>`cast(${value<number>('limit')} as integer)`),
)

/** Messages of a conversation before or after a place in the order of arrival. */
export interface Window {
  conversationId?: string | undefined
  before?: number
  after?: number
  /** The end of the window that is wanted when it has more than `limit` messages. */
  end: 'oldest' | 'newest'
  limit: number
  /** Defaults to all conversations. */
  reach?: Reach
}

/** Limits a query for messages to conversations within reach. */
function within<Row>(
  query: SelectQueryBuilder<AgentTables, 'messages', Row>,
  database: Database,
  reach: Reach,
) {
  return reach === 'all'
    ? query
    : query.where('conversation_id', 'in', reachedConversations(database, reach).select('id'))
}

/** Selects ids of messages in own turns: the caller's messages, and the answers to them. */
export function ownTurns(database: Database, reach: Exclude<Reach, 'all'>) {
  const own = database.selectFrom('messages').select('messages.id')
  return within(own, database, reach).where('messages.created_by', 'in', authorsIn(reach))
}

export async function findMessage(
  database: Database,
  id: string,
  reach: Reach = 'all',
): Promise<StoredMessage | undefined> {
  const row = await within(selectMessages(database), database, reach).where('id', '=', id).executeTakeFirst()
  return row === undefined ? undefined : toMessage(row)
}

/** Reads messages, always oldest first. */
export async function readWindow(database: Database, window: Window): Promise<StoredMessage[]> {
  const { conversationId, before, after, end, limit, reach = 'all' } = window
  const isInOne = conversationId !== undefined && reach === 'all'
  if (isInOne && before !== undefined && after === undefined && end === 'newest')
    return (await selectBefore(database, { conversationId, before, limit })).reverse().map(toMessage)
  let query = within(selectMessages(database), database, reach)
  if (conversationId !== undefined) query = query.where('conversation_id', '=', conversationId)
  if (before !== undefined) query = query.where('sequence', '<', before)
  if (after !== undefined) query = query.where('sequence', '>', after)
  const rows = await query
    .orderBy('sequence', end === 'newest' ? 'desc' : 'asc')
    .limit(limit)
    .execute()
  return (end === 'newest' ? rows.reverse() : rows).map(toMessage)
}

/** Finds the message that follows a question in its conversation. */
export async function findNext(
  database: Database,
  { conversationId, sequence }: StoredMessage,
): Promise<StoredMessage | undefined> {
  const window = { conversationId, after: sequence, end: 'oldest', limit: 1 } as const
  const [next] = await readWindow(database, window)
  return next
}

/** True for an answer that was neither cut off nor failed. */
export function isWholeAnswer({ role, metadata }: StoredMessage): boolean {
  return role === 'assistant' && !metadata?.aborted && !metadata?.waiting && metadata?.error === undefined
}

/** Returns the generic list, with its sorting, search and cursor. */
export async function listMessages(
  database: Database,
  query: MessageListQuery,
  reach: Reach,
): Promise<Page<StoredMessage>> {
  const { conversationId, created_by, rating } = query
  const wanted = within(selectPlaces(database), database, reach)
    .$if(conversationId !== undefined, places => places.where('conversation_id', '=', conversationId ?? ''))
    .$if(created_by !== undefined, places => places.where('created_by', 'in', created_by ?? []))
    .$if(rating !== undefined, places => places.where('rating', 'in', rating ?? []))
  const { rows, meta } = await listLarge(wanted, messageList, query, {
    key: 'sequence',
    read: sequences => selectMessages(database).where('sequence', 'in', sequences).execute(),
  })
  return { rows: rows.map(toMessage), meta }
}

export async function countMessages(
  database: Database,
  conversationId: string | undefined,
  reach: Reach,
): Promise<number> {
  const count = database.selectFrom('messages').select(({ fn }) => fn.countAll<number>().as('total'))
  const { total } = await within(count, database, reach)
    .$if(conversationId !== undefined, query => query.where('conversation_id', '=', conversationId ?? ''))
    .executeTakeFirstOrThrow()
  return Number(total)
}

export async function insertMessage(database: Database, message: ChatMessage): Promise<number> {
  const [inserted] = await insertOne(database, columnsOf(message))
  if (inserted === undefined) throw new Error('an inserted message has no sequence')
  return inserted.sequence
}

/** Inserts a message whose JSON is text already. */
export async function insertRow(database: Database, row: Record<Columns, string | null>): Promise<void> {
  await insertOne(database, row)
}

/** Stores the message's current content, which replaces earlier content. */
export async function putMessage(database: Database, message: PutMessage): Promise<void> {
  await putOne(database, columnsOf(message))
}

/** Stores a person's feedback on an answer; undefined removes it. */
export async function putFeedback(
  database: Database,
  id: string,
  feedback: Feedback | undefined,
): Promise<void> {
  const { rating = null, ...said } = feedback ?? {}
  const values = { rating, feedback: rating === null ? null : JSON.stringify(said) }
  await database.updateTable('messages').set(values).where('id', '=', id).execute()
}

export async function deleteMessage(database: Database, id: string): Promise<void> {
  await database.deleteFrom('messages').where('id', '=', id).execute()
}

/** Max messages, and bytes, that are deleted at a time: few, so that no other request waits long. */
const portion = { messages: 100, bytes: 1_000_000 }

/** Deletes a batch of a conversation's messages, the oldest first; returns their number, 0 when there are no more. */
export async function deleteOldest(database: Database, conversationId: string): Promise<number> {
  const places = await selectPlaces(database)
    .where('conversation_id', '=', conversationId)
    .orderBy('sequence')
    .limit(portion.messages)
    .execute()
  const last = places[fitting(places, ({ size }) => size, portion.bytes) - 1]
  if (last === undefined) return 0
  const { numDeletedRows } = await database
    .deleteFrom('messages')
    .where('conversation_id', '=', conversationId)
    .where('sequence', '<=', last.sequence)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Deletes everything after a message in its conversation, except for one message. */
export async function deleteFollowing(
  database: Database,
  { conversationId, sequence }: StoredMessage,
  stays: string,
): Promise<void> {
  await database
    .deleteFrom('messages')
    .where('conversation_id', '=', conversationId)
    .where('sequence', '>', sequence)
    .where('id', '!=', stays)
    .execute()
}

function columnsOf(message: PutMessage): Record<Columns, string | null> {
  const { content, toolCalls, toolResults, metadata, sent } = message
  return {
    id: message.id,
    conversation_id: message.conversationId,
    role: message.role,
    created_at: message.createdAt,
    created_by: message.created_by ?? null,
    content,
    tool_calls: toolCalls === null ? null : JSON.stringify(toolCalls),
    tool_results: toolResults === null ? null : JSON.stringify(toolResults),
    metadata: metadata === undefined ? null : JSON.stringify(metadata),
    sent: sent === undefined ? null : JSON.stringify(sent),
  }
}

function toMessage(row: MessageRow): StoredMessage {
  const sent = parseJsonColumn<SentTurn | null>(row.sent, null)
  const message = {
    sequence: row.sequence,
    id: row.id,
    role: row.role as ChatMessage['role'],
    content: row.content,
    conversationId: row.conversation_id,
    toolCalls: parseJsonColumn<ChatMessage['toolCalls']>(row.tool_calls, null),
    toolResults: parseJsonColumn<ChatMessage['toolResults']>(row.tool_results, null),
    createdAt: row.created_at,
    ...(row.created_by === null ? {} : { created_by: row.created_by }),
    ...(sent !== null && { sent }),
    ...(row.rating === null ? {} : { feedback: feedbackOf(row) }),
  }
  const metadata = parseJsonColumn<MessageMetadata | null>(row.metadata, null)
  return metadata === null ? message : { ...message, metadata }
}

function feedbackOf({ rating, feedback }: MessageRow): Feedback {
  return { rating, ...parseJsonColumn<object>(feedback, {}) } as Feedback
}
