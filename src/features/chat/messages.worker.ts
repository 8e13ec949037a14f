/** The part that runs in a thread of the worker pool; the other side is `message-list.ts`. */
import { openSearchDatabase } from '#storage/search/search-database.ts'
import type { MessageListQuery } from './chat.schema.ts'
import { listMessages } from './messages.repository.ts'
import type { Reach } from './reach.ts'

export interface ListTask {
  databasePath: string
  query: MessageListQuery
  reach: Reach
}

export type MessagePage = Awaited<ReturnType<typeof listMessages>>

/** A `MessagePage` as JSON, whose numbers may be ones that cannot be sent to another thread. */
export async function list({ databasePath, query, reach }: ListTask): Promise<string> {
  const database = await openSearchDatabase(databasePath, { readOnly: true })
  try {
    return JSON.stringify(await listMessages(database.db, query, reach))
  } finally {
    await database.db.destroy()
  }
}
