import type { Kysely } from 'kysely'
import type { ListDefinition, Page } from '#platform/http/list-query.ts'
import { listRows } from '#platform/http/list-query.ts'
import { parseJsonColumn } from '#storage/json-column.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { ChatMessage, MessageListQuery, MessageMetadata } from './chat.schema.ts'

type Database = Kysely<AgentTables>

/** A message with its place in the order of arrival. */
export type StoredMessage = ChatMessage & { sequence: number }

/** A message as it is sent. */
export function toPublic({ sequence: _, ...message }: StoredMessage): ChatMessage {
  return message
}

type MessageRow = Awaited<ReturnType<ReturnType<typeof selectMessages>['execute']>>[number]

const messageList: ListDefinition<MessageRow> = {
  sortable: {
    id: { column: 'id' },
    createdAt: { column: 'sequence' },
    conversationId: { column: 'conversation_id' },
    role: { column: 'role' },
  },
  defaultSort: 'createdAt',
  defaultOrder: 'asc',
  searchable: ['content'],
  dateColumn: 'created_at',
  uniqueColumn: 'sequence',
}

function selectMessages(database: Database) {
  return database
    .selectFrom('messages')
    .select([
      'sequence',
      'id',
      'conversation_id',
      'role',
      'content',
      'tool_calls',
      'tool_results',
      'metadata',
      'created_at',
    ])
}

/** Messages within a conversation that lie before or after a place in the order of arrival. */
export interface Window {
  conversationId?: string | undefined
  before?: number
  after?: number
  /** Which end of the window is wanted when it holds more than `limit`. */
  end: 'oldest' | 'newest'
  limit: number
}

export async function findMessage(database: Database, id: string): Promise<StoredMessage | undefined> {
  const row = await selectMessages(database).where('id', '=', id).executeTakeFirst()
  return row === undefined ? undefined : toMessage(row)
}

/** Always oldest first. */
export async function readWindow(database: Database, window: Window): Promise<StoredMessage[]> {
  const { conversationId, before, after, end, limit } = window
  let query = selectMessages(database)
  if (conversationId !== undefined) query = query.where('conversation_id', '=', conversationId)
  if (before !== undefined) query = query.where('sequence', '<', before)
  if (after !== undefined) query = query.where('sequence', '>', after)
  const rows = await query
    .orderBy('sequence', end === 'newest' ? 'desc' : 'asc')
    .limit(limit)
    .execute()
  return (end === 'newest' ? rows.reverse() : rows).map(toMessage)
}

/** The generic list, with its sorting, search and cursor. */
export async function listMessages(
  database: Database,
  query: MessageListQuery,
): Promise<Page<StoredMessage>> {
  const messages = selectMessages(database)
  const wanted =
    query.conversationId === undefined
      ? messages
      : messages.where('conversation_id', '=', query.conversationId)
  const { rows, meta } = await listRows(wanted, messageList, query)
  return { rows: rows.map(toMessage), meta }
}

export async function countMessages(database: Database, conversationId: string | undefined): Promise<number> {
  const { total } = await database
    .selectFrom('messages')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .$if(conversationId !== undefined, query => query.where('conversation_id', '=', conversationId ?? ''))
    .executeTakeFirstOrThrow()
  return Number(total)
}

export async function insertMessage(database: Database, message: ChatMessage): Promise<number> {
  const { sequence } = await database
    .insertInto('messages')
    .values({
      ...columnsOf(message),
      id: message.id,
      conversation_id: message.conversationId,
      role: message.role,
      created_at: message.createdAt,
    })
    .returning('sequence')
    .executeTakeFirstOrThrow()
  return sequence
}

/** Writes the message's present content over what is stored; false if it is not stored yet. */
export async function updateMessage(database: Database, message: ChatMessage): Promise<boolean> {
  const result = await database
    .updateTable('messages')
    .set(columnsOf(message))
    .where('id', '=', message.id)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

export async function deleteMessage(database: Database, id: string): Promise<void> {
  await database.deleteFrom('messages').where('id', '=', id).execute()
}

/** Deletes a conversation's messages, all or those that follow a place; the number deleted. */
export async function deleteMessages(
  database: Database,
  conversationId?: string,
  after = 0,
): Promise<number> {
  let query = database.deleteFrom('messages').where('sequence', '>', after)
  if (conversationId !== undefined) query = query.where('conversation_id', '=', conversationId)
  const result = await query.executeTakeFirst()
  return Number(result.numDeletedRows)
}

function columnsOf({ content, toolCalls, toolResults, metadata }: ChatMessage) {
  return {
    content,
    tool_calls: toolCalls === null ? null : JSON.stringify(toolCalls),
    tool_results: toolResults === null ? null : JSON.stringify(toolResults),
    metadata: metadata === undefined ? null : JSON.stringify(metadata),
  }
}

function toMessage(row: MessageRow): StoredMessage {
  const message = {
    sequence: row.sequence,
    id: row.id,
    role: row.role as ChatMessage['role'],
    content: row.content,
    conversationId: row.conversation_id,
    toolCalls: parseJsonColumn<ChatMessage['toolCalls']>(row.tool_calls, null),
    toolResults: parseJsonColumn<ChatMessage['toolResults']>(row.tool_results, null),
    createdAt: row.created_at,
  }
  const metadata = parseJsonColumn<MessageMetadata | null>(row.metadata, null)
  return metadata === null ? message : { ...message, metadata }
}
