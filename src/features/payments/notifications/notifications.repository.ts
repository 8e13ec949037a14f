import type { Kysely, Selectable } from 'kysely'
import { listOf } from '#platform/http/lists/list-of.ts'
import { listRows } from '#platform/http/lists/list-query.ts'
import { paymentTables } from '#storage/tables/payments.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Notification, NotificationListQuery } from './notifications.schema.ts'

type Database = Kysely<AgentTables>
export type NotificationRow = Selectable<AgentTables['payment_notifications']>

const notificationList = listOf(paymentTables.columns.payment_notifications, {
  sortable: ['id', 'gateway', 'status', 'created_at'],
  searchable: ['gateway', 'message'],
})

function notifications(database: Database) {
  return database.selectFrom('payment_notifications').selectAll()
}

export async function listNotifications(
  database: Database,
  { status, ...parameters }: NotificationListQuery,
) {
  const query = notifications(database).$if(status !== undefined, all =>
    all.where('status', '=', status ?? ''),
  )
  const { rows, meta } = await listRows(query, notificationList, parameters)
  return { rows: rows.map(toNotification), meta }
}

export async function findNotification(database: Database, id: string): Promise<NotificationRow | undefined> {
  return await notifications(database).where('id', '=', id).executeTakeFirst()
}

export async function insertNotification(database: Database, row: NotificationRow): Promise<void> {
  await database.insertInto('payment_notifications').values(row).execute()
}

/** @param transaction_id null removes the match. */
export async function setMatch(database: Database, id: string, transaction_id: string | null): Promise<void> {
  const status = transaction_id === null ? 'unmatched' : 'matched'
  await database
    .updateTable('payment_notifications')
    .set({ transaction_id, status })
    .where('id', '=', id)
    .execute()
}

export function toNotification({ amount, currency, from, reference, ...row }: NotificationRow): Notification {
  const status = row.status as Notification['status']
  return { ...row, status, parsed: { amount, currency, from, reference } }
}
