import type { Kysely } from 'kysely'
import type { ListDefinition, ListParameters } from '#platform/http/list-query.ts'
import { listRows } from '#platform/http/list-query.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Conversation } from './chat.schema.ts'

type Database = Kysely<AgentTables>

const columns = ['id', 'title', 'message_count', 'last_message_at', 'created_at'] as const

interface ConversationRow {
  id: string
  title: string
  message_count: number
  last_message_at: string | null
  created_at: string
}

const conversationList: ListDefinition<ConversationRow> = {
  sortable: {
    lastMessageAt: { column: 'last_message_at' },
    createdAt: { column: 'created_at' },
    title: { column: 'title' },
    messageCount: { column: 'message_count', whenNull: 0 },
  },
  defaultSort: 'lastMessageAt',
  defaultOrder: 'desc',
  searchable: ['title'],
  dateColumn: 'created_at',
  uniqueColumn: 'id',
  valueOf: (row, column) => row[column as keyof ConversationRow] ?? '',
}

export async function listConversations(database: Database, parameters: ListParameters) {
  const { rows, meta } = await listRows(
    database.selectFrom('conversations').select(columns),
    conversationList,
    parameters,
  )
  return { conversations: rows.map(toConversation), meta }
}

export async function hasConversation(database: Database, id: string): Promise<boolean> {
  const row = await database.selectFrom('conversations').select('id').where('id', '=', id).executeTakeFirst()
  return row !== undefined
}

export async function insertConversation(database: Database, conversation: Conversation): Promise<void> {
  const { id, title, createdAt } = conversation
  await database
    .insertInto('conversations')
    .values({
      id,
      title,
      message_count: 0,
      last_message_at: null,
      created_at: createdAt,
      lock_holder: null,
      lock_token: 0,
      lock_expires_at: null,
    })
    .execute()
}

/**
 * Makes room for one more conversation: deletes those with the oldest activity that are not locked, until fewer than
 * `most` are left. False if all that are left are locked.
 */
export async function makeRoom(database: Database, most: number, now: string): Promise<boolean> {
  const conversations = await database
    .selectFrom('conversations')
    .select(['id', 'lock_holder', 'lock_expires_at'])
    .orderBy(({ fn }) => fn.coalesce('last_message_at', 'created_at'))
    .execute()
  const surplus = conversations.length - most + 1
  if (surplus <= 0) return true
  const free = conversations.filter(
    ({ lock_holder, lock_expires_at }) => lock_holder === null || (lock_expires_at ?? '') <= now,
  )
  const evicted = free.slice(0, surplus).map(({ id }) => id)
  if (evicted.length > 0) await database.deleteFrom('conversations').where('id', 'in', evicted).execute()
  return evicted.length === surplus
}

export async function deleteConversation(database: Database, id: string): Promise<void> {
  await database.deleteFrom('conversations').where('id', '=', id).execute()
}

/** Counts the messages anew and takes the time of the last one; without an id in every conversation. */
export async function refreshActivity(database: Database, id?: string): Promise<void> {
  await database
    .updateTable('conversations')
    .set(({ selectFrom }) => ({
      message_count: selectFrom('messages')
        .whereRef('messages.conversation_id', '=', 'conversations.id')
        .select(({ fn }) => fn.countAll<number>().as('count')),
      last_message_at: selectFrom('messages')
        .whereRef('messages.conversation_id', '=', 'conversations.id')
        .select(({ fn }) => fn.max('messages.created_at').as('latest')),
    }))
    .$if(id !== undefined, query => query.where('id', '=', id ?? ''))
    .execute()
}

/** Notes one more message, without counting the others. */
export async function addActivity(database: Database, id: string, at: string): Promise<void> {
  await database
    .updateTable('conversations')
    .set(({ eb }) => ({ message_count: eb('message_count', '+', 1), last_message_at: at }))
    .where('id', '=', id)
    .execute()
}

function toConversation(row: ConversationRow): Conversation {
  const {
    id,
    title,
    message_count: messageCount,
    last_message_at: lastMessageAt,
    created_at: createdAt,
  } = row
  return { id, title, messageCount, ...(lastMessageAt === null ? {} : { lastMessageAt }), createdAt }
}
