import type { Kysely, Selectable } from 'kysely'
import type { ListDefinition, ListParameters, Page } from '#platform/http/lists/list-query.ts'
import { listRows } from '#platform/http/lists/list-query.ts'
import { parseJsonColumn } from '#storage/json-column.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Delivery, DeliveryListQuery, Webhook } from './webhooks.schema.ts'

type Database = Kysely<AgentTables>
export type WebhookRow = Selectable<AgentTables['webhooks']>
export type DeliveryRow = Selectable<AgentTables['webhook_deliveries']>

/** The kind of subscriber that webhooks are. */
export const subscriberKind = 'webhook'

const keptMs = 30 * 24 * 3_600_000
const maxRemoved = 100

const webhookList: ListDefinition<WebhookRow> = {
  sortable: {
    id: { column: 'id' },
    url: { column: 'url' },
    created_at: { column: 'created_at' },
    updated_at: { column: 'updated_at' },
  },
  defaultSort: ['created_at'],
  defaultOrder: 'desc',
  searchable: ['url', 'events'],
  dateColumn: 'created_at',
  unique: { column: 'id' },
}

const deliveryColumns = [
  'id',
  'event',
  'status',
  'attempts',
  'status_code',
  'duration_ms',
  'answer',
  'next_attempt_at',
  'created_at',
] as const

const deliveryList: ListDefinition<Pick<DeliveryRow, (typeof deliveryColumns)[number]>> = {
  sortable: {
    id: { column: 'id' },
    event: { column: 'event' },
    status: { column: 'status' },
    attempts: { column: 'attempts', numeric: true },
    status_code: { column: 'status_code', numeric: true, whenNull: 0 },
    duration_ms: { column: 'duration_ms', numeric: true, whenNull: 0 },
    next_attempt_at: { column: 'next_attempt_at', whenNull: '' },
    created_at: { column: 'created_at' },
  },
  defaultSort: ['created_at'],
  defaultOrder: 'desc',
  searchable: ['event', 'answer'],
  dateColumn: 'created_at',
  unique: { column: 'id' },
}

export async function listWebhooks(database: Database, parameters: ListParameters): Promise<Page<Webhook>> {
  const page = await listRows(database.selectFrom('webhooks').selectAll(), webhookList, parameters)
  return { ...page, rows: page.rows.map(toWebhook) }
}

export function findWebhook(database: Database, id: string): Promise<WebhookRow | undefined> {
  return database.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Inserts or replaces it, and its subscriptions: none while it is disabled. To be called in a transaction. */
export async function saveWebhook(transaction: Database, { id, ...values }: WebhookRow): Promise<void> {
  const insert = transaction.insertInto('webhooks').values({ id, ...values })
  await insert.onConflict(conflict => conflict.column('id').doUpdateSet(values)).execute()
  await removeSubscriptions(transaction, id)
  if (values.disabled_reason !== null) return
  const rows = eventsOf(values).map(event => ({ event, kind: subscriberKind, ref: id }))
  await transaction.insertInto('event_subscriptions').values(rows).execute()
}

export async function countWebhooks(database: Database): Promise<number> {
  const count = database.selectFrom('webhooks').select(({ fn }) => fn.countAll<number | string>().as('count'))
  return Number((await count.executeTakeFirstOrThrow()).count)
}

/** With its deliveries. To be called in a transaction. */
export async function deleteWebhook(transaction: Database, id: string): Promise<void> {
  await removeSubscriptions(transaction, id)
  await transaction.deleteFrom('webhooks').where('id', '=', id).execute()
}

async function removeSubscriptions(transaction: Database, ref: string): Promise<void> {
  const subscriptions = transaction.deleteFrom('event_subscriptions').where('kind', '=', subscriberKind)
  await subscriptions.where('ref', '=', ref).execute()
}

export async function listDeliveries(database: Database, webhookId: string, query: DeliveryListQuery) {
  let deliveries = database
    .selectFrom('webhook_deliveries')
    .select(deliveryColumns)
    .where('webhook_id', '=', webhookId)
  if (query.status !== undefined) deliveries = deliveries.where('status', 'in', query.status)
  const page = await listRows(deliveries, deliveryList, query)
  return { ...page, rows: page.rows as Delivery[] }
}

export function findDelivery(database: Database, id: string): Promise<DeliveryRow | undefined> {
  return database.selectFrom('webhook_deliveries').selectAll().where('id', '=', id).executeTakeFirst()
}

/**
 * Returns it as it is stored, if it exists already. Each new one removes some that are too old, so that no job has to look
 * for these.
 */
export async function insertDelivery(database: Database, row: DeliveryRow): Promise<DeliveryRow> {
  const insert = database.insertInto('webhook_deliveries').values(row)
  const inserted = await insert
    .onConflict(conflict => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (inserted === undefined) return (await findDelivery(database, row.id)) ?? row
  const old = database
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('webhook_id', '=', row.webhook_id)
    .where('created_at', '<', new Date(Date.parse(row.created_at) - keptMs).toISOString())
    .orderBy('created_at')
    .limit(maxRemoved)
  await database.deleteFrom('webhook_deliveries').where('id', 'in', old).execute()
  return row
}

/** False, and nothing is changed, if the delivery is no longer as it was found. */
export async function updateDelivery(
  database: Database,
  { id, status, attempts }: DeliveryRow,
  changes: Partial<DeliveryRow>,
): Promise<boolean> {
  const update = database.updateTable('webhook_deliveries').set(changes).where('id', '=', id)
  const unchanged = update.where('status', '=', status).where('attempts', '=', attempts)
  return (await unchanged.executeTakeFirstOrThrow()).numUpdatedRows > 0n
}

export function toWebhook({ events, disabled_reason, secret_set: _, ...row }: WebhookRow): Webhook {
  return { ...row, events: eventsOf({ events }), enabled: disabled_reason === null, disabled_reason }
}

function eventsOf({ events }: Pick<WebhookRow, 'events'>): string[] {
  return parseJsonColumn<string[]>(events, [])
}
