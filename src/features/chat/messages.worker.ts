/** What runs in a thread of the worker pool; the other side is `message-list.ts`. */
import type { ErrorCode } from '#platform/errors.ts'
import { AppError } from '#platform/errors.ts'
import { openSearchDatabase } from '#storage/search/search-database.ts'
import type { MessageListQuery } from './chat.schema.ts'
import { listMessages } from './messages.repository.ts'

export interface ListTask {
  databasePath: string
  query: MessageListQuery
}

/** An error is data here: between threads it would lose its code. */
export type ListOutcome =
  | { kind: 'page'; page: Awaited<ReturnType<typeof listMessages>> }
  | { kind: 'refused'; code: ErrorCode; message: string; details: Record<string, unknown> | undefined }

export async function list({ databasePath, query }: ListTask): Promise<ListOutcome> {
  const database = await openSearchDatabase(databasePath, { readOnly: true })
  try {
    return { kind: 'page', page: await listMessages(database.db, query) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { kind: 'refused', code: error.code, message: error.message, details: error.details }
  } finally {
    await database.db.destroy()
  }
}
