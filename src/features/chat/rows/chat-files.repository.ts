import { type Kysely, type Selectable, sql } from 'kysely'
import type { AgentTables } from '#storage/tables.ts'
import { authorsIn, type Reach } from '../reach.ts'
import { reachedConversations } from './conversations.repository.ts'

type Database = Kysely<AgentTables>
export type FileRow = Selectable<AgentTables['chat_files']>

/** Finds a file that a caller may see: a sent one with its message, an unsent one by its sender. */
export async function findFile(
  database: Database,
  id: string,
  { sight, author }: { sight: Reach; author: string },
): Promise<FileRow | undefined> {
  return await database
    .selectFrom('chat_files')
    .selectAll()
    .where('id', '=', id)
    .where('status', '!=', 'receiving')
    .where(({ or, and, eb, exists, selectFrom }) =>
      or([
        and([eb('message_id', 'is', null), eb('created_by', 'in', authorsIn({ author }))]),
        and([
          eb('conversation_id', 'in', reachedConversations(database, sight).select('id')),
          exists(selectFrom('messages').whereRef('messages.id', '=', 'message_id').select('messages.id')),
        ]),
      ]),
    )
    .executeTakeFirst()
}

/** Counts the files that are in no message yet, and their bytes, for each author. */
export async function unsentByAuthor(database: Database) {
  return await database
    .selectFrom('chat_files')
    .where('message_id', 'is', null)
    .groupBy('created_by')
    .select(({ fn }) => ['created_by', fn.countAll().as('files'), fn.sum('size').as('bytes')])
    .execute()
}

/** Finds the files that this sender can send with this message: received after `since`, and in no other message. */
export async function findSendable(
  database: Database,
  ids: readonly string[],
  { author, since, messageId = '' }: { author: string; since: string; messageId?: string | undefined },
): Promise<FileRow[]> {
  return await database
    .selectFrom('chat_files')
    .selectAll()
    .where('id', 'in', ids)
    .where('created_by', '=', author)
    .where('created_at', '>', since)
    .where('status', '!=', 'receiving')
    .where(({ or, eb }) => or([eb('message_id', 'is', null), eb('message_id', '=', messageId)]))
    .execute()
}

/** Marks the files that are free as sent. Returns their number. */
export async function markSent(
  database: Database,
  ids: readonly string[],
  { conversationId, messageId }: { conversationId: string; messageId: string },
): Promise<number> {
  const { numUpdatedRows } = await database
    .updateTable('chat_files')
    .set({ conversation_id: conversationId, message_id: messageId })
    .where('id', 'in', ids)
    .where(({ or, eb }) => or([eb('message_id', 'is', null), eb('message_id', '=', messageId)]))
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

export async function hasFiles(database: Database, conversationIds: readonly string[]): Promise<boolean> {
  if (conversationIds.length === 0) return false
  const files = database.selectFrom('chat_files').select('id').where('conversation_id', 'in', conversationIds)
  return (await files.limit(1).executeTakeFirst()) !== undefined
}

/** Returns ids of files whose message is deleted, and of old unsent files that no queued message waits with. */
export async function findUnused(database: Database, receivedBefore: string): Promise<string[]> {
  const rows = await database
    .selectFrom('chat_files')
    .select('id')
    .where(({ or, and, eb, not, exists, selectFrom }) =>
      or([
        and([
          eb('message_id', 'is', null),
          eb('created_at', '<', receivedBefore),
          sql<boolean>`not exists (select 1 from turns where ended_at is null and question like '%' || chat_files.id || '%')`,
        ]),
        and([
          eb('message_id', 'is not', null),
          not(
            exists(selectFrom('messages').whereRef('messages.id', '=', 'message_id').select('messages.id')),
          ),
        ]),
      ]),
    )
    .execute()
  return rows.map(({ id }) => id)
}

/** A question in its conversation. */
export interface Place {
  conversationId: string
  sequence: number
}

export type DocumentRow = Pick<FileRow, 'id' | 'name' | 'mime_type' | 'status' | 'error'>

/** Finds documents of messages up to a question, the newest first. */
export async function findDocuments(
  database: Database,
  { conversationId, sequence }: Place,
  limit: number,
): Promise<DocumentRow[]> {
  return await database
    .selectFrom('chat_files')
    .innerJoin('messages', 'messages.id', 'message_id')
    .select(['chat_files.id', 'name', 'mime_type', 'status', 'error'])
    .where('chat_files.conversation_id', '=', conversationId)
    .where('messages.conversation_id', '=', conversationId)
    .where('sequence', '<=', sequence)
    .where('kind', '=', 'document')
    .orderBy('sequence', 'desc')
    .orderBy('chat_files.id', 'desc')
    .limit(limit)
    .execute()
}

/** Returns false if there is no such file any more. */
export async function changeFile(
  database: Database,
  id: string,
  changes: Partial<Pick<FileRow, 'size' | 'status' | 'progress' | 'error' | 'message_id'>>,
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable('chat_files')
    .set(changes)
    .where('id', '=', id)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
