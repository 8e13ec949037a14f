/** The part that runs in a thread of the worker pool; the other side is `message-list.ts`. */
import { openSearchDatabase } from '#storage/search/search-database.ts'
import type { AgentDatabase } from '#storage/tables.ts'
import type { ConversationListQuery, MessageListQuery } from '../chat.schema.ts'
import type { Reach } from '../reach.ts'
import { listConversations } from '../rows/conversations.repository.ts'
import { listMessages } from '../rows/messages.repository.ts'

export interface ListTask<Query> {
  databasePath: string
  query: Query
  reach: Reach
}

export type MessagePage = Awaited<ReturnType<typeof listMessages>>
export type ConversationPage = Awaited<ReturnType<typeof listConversations>>

/** Returns a `MessagePage` as JSON, because its numbers might not pass between threads. */
export const messages = (task: ListTask<MessageListQuery>) => read(task, listMessages)

/** Returns a `ConversationPage` as JSON. */
export const conversations = (task: ListTask<ConversationListQuery>) => read(task, listConversations)

async function read<Query>(
  { databasePath, query, reach }: ListTask<Query>,
  list: (database: AgentDatabase, query: Query, reach: Reach) => Promise<object>,
): Promise<string> {
  const database = await openSearchDatabase(databasePath, { readOnly: true })
  try {
    return JSON.stringify(await list(database.db, query, reach))
  } finally {
    await database.db.destroy()
  }
}
