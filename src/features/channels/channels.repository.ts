import { type Insertable, type SqlBool, sql } from 'kysely'
import type { AgentTables, AgentDatabase as Database } from '#storage/tables.ts'
import type { Messenger } from './channels.schema.ts'

type Progress = AgentTables['channel_deliveries']
type Thread = Insertable<AgentTables['channel_threads']>
type NewUpdate = Insertable<AgentTables['channel_updates']>

/** An update that is neither an edit nor over the limit. */
const isRead = sql<SqlBool>`coalesce(text, answered) is not null`

/** Inserts a thread; an existing one keeps its id, which is returned. */
export async function putThread(database: Database, { id, ...thread }: Thread): Promise<string> {
  const stored = await database
    .insertInto('channel_threads')
    .values({ id, ...thread })
    .onConflict(conflict => conflict.columns(['channel', 'address']).doUpdateSet(thread))
    .returning('id')
    .executeTakeFirstOrThrow()
  return stored.id
}

export async function findThread(database: Database, id: string) {
  const { channel, ...thread } = await database
    .selectFrom('channel_threads')
    .select(['id', 'channel', 'address', 'contact_id', 'told_until'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return { ...thread, channel: channel as Messenger }
}

export async function noteTold(database: Database, id: string, told_until: string): Promise<void> {
  await database.updateTable('channel_threads').set({ told_until }).where('id', '=', id).execute()
}

/** Changes nothing, but conflicts with transactions that change the thread at the same time. */
export async function touchThread(database: Database, id: string): Promise<void> {
  await database.updateTable('channel_threads').set({ id }).where('id', '=', id).execute()
}

/** Finds the thread of a person by one of the addresses; without a contact if it was deleted. */
export async function personAt(database: Database, channel: Messenger, addresses: string[]) {
  return await database
    .selectFrom('channel_threads')
    .leftJoin('contacts', 'contacts.id', 'contact_id')
    .select(['channel_threads.id', 'address', 'contacts.id as contact_id'])
    .where('channel', '=', channel)
    .where(({ eb, or }) => or([eb('address', 'in', addresses), eb('user_id', 'in', addresses)]))
    .orderBy(({ eb }) => eb('address', '=', addresses[0] ?? ''), 'desc')
    .executeTakeFirst()
}

/** Returns the address of the contact's last message on the channel. */
export async function addressOf(database: Database, channel: Messenger, contact_id: string) {
  const thread = await database
    .selectFrom('channel_threads')
    .select('address')
    .where(({ and }) => and({ channel, contact_id }))
    .orderBy('last_message_at', 'desc')
    .executeTakeFirst()
  return thread?.address
}

/** Returns false if the update was delivered before. */
export async function insertUpdate(database: Database, update: NewUpdate): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await database
    .insertInto('channel_updates')
    .values(update)
    .onConflict(conflict => conflict.column('id').doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** Counts answered updates, without edits. @param since ISO 8601. */
export async function countUpdates(database: Database, threadId: string, since: string): Promise<number> {
  const { count } = await database
    .selectFrom('channel_updates')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('thread_id', '=', threadId)
    .where('received_at', '>', since)
    .where(isRead)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Returns unanswered updates in the order of writing, first those that are being answered. */
export async function openUpdates(database: Database, threadId: string) {
  return await database
    .selectFrom('channel_updates')
    .select(['sequence', 'text', 'message_id', 'received_at', 'file'])
    .where('thread_id', '=', threadId)
    .where('text', 'is not', null)
    .orderBy(sql`message_id is null`)
    .orderBy('position')
    .orderBy('sequence')
    .limit(50)
    .$narrowType<{ text: string }>()
    .execute()
}

export async function changeUpdates(
  database: Database,
  updates: readonly { sequence: number }[],
  changes: { text?: string; answered?: string; message_id?: string; file?: string | null },
): Promise<void> {
  const sequences = updates.map(({ sequence }) => sequence)
  if (sequences.length === 0) return
  await database.updateTable('channel_updates').set(changes).where('sequence', 'in', sequences).execute()
}

/** Closes updates, but keeps them for edits. */
export async function closeUpdates(
  database: Database,
  updates: readonly { sequence: number }[],
): Promise<void> {
  const sequences = updates.map(({ sequence }) => sequence)
  await database
    .updateTable('channel_updates')
    .set(({ ref }) => ({ answered: ref('text'), text: null }))
    .where('sequence', 'in', sequences)
    .execute()
}

/** Returns the update at a position, unless it must not be answered. */
export async function readUpdate(database: Database, threadId: string, position: number) {
  return await database
    .selectFrom('channel_updates')
    .select(['sequence', 'text', 'message_id'])
    .where('thread_id', '=', threadId)
    .where('position', '=', position)
    .where(isRead)
    .orderBy('sequence')
    .executeTakeFirst()
}

/** Returns the current texts of a message. */
export async function textsOf(database: Database, message_id: string): Promise<string[]> {
  const rows = await database
    .selectFrom('channel_updates')
    .select(['text', 'answered'])
    .where('message_id', '=', message_id)
    .orderBy('position')
    .orderBy('sequence')
    .execute()
  return rows.map(({ text, answered }) => text ?? answered ?? '')
}

/** @param before ISO 8601. */
export async function forgetUpdates(database: Database, threadId: string, before: string): Promise<void> {
  await database
    .deleteFrom('channel_updates')
    .where('thread_id', '=', threadId)
    .where('received_at', '<', before)
    .where('text', 'is', null)
    .execute()
}

export async function findProgress(database: Database, key: string): Promise<Progress | undefined> {
  return await database
    .selectFrom('channel_deliveries')
    .select(['key', 'sent', 'message_id'])
    .where('key', '=', key)
    .executeTakeFirst()
}

export async function saveProgress(database: Database, progress: Progress): Promise<void> {
  await database
    .insertInto('channel_deliveries')
    .values(progress)
    .onConflict(conflict => conflict.column('key').doUpdateSet({ sent: progress.sent }))
    .execute()
}

export async function deleteProgress(database: Database, key: string): Promise<void> {
  await database.deleteFrom('channel_deliveries').where('key', '=', key).execute()
}
