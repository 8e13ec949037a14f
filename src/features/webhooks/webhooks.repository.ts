import type { Kysely, NotNull, Selectable } from 'kysely'
import { listOf } from '#platform/http/lists/list-of.ts'
import { type ListParameters, listRows, type Page } from '#platform/http/lists/list-query.ts'
import { parseJsonColumn } from '#storage/json-column.ts'
import { webhookTables } from '#storage/tables/webhooks.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Delivery, DeliveryListQuery, Webhook } from './webhooks.schema.ts'

type Database = Kysely<AgentTables>
export type WebhookRow = Selectable<AgentTables['webhooks']>
export type DeliveryRow = Selectable<AgentTables['webhook_deliveries']>
export type PendingDelivery = DeliveryRow & { next_attempt_at: string }

/** The subscriber kind of webhooks. */
export const subscriberKind = 'webhook'

const keptMs = 30 * 24 * 3_600_000
const maxRemoved = 100

const webhookList = listOf(webhookTables.columns.webhooks, {
  sortable: ['id', 'url', 'created_at', 'updated_at'],
  searchable: ['url', 'events'],
})

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

const deliveryList = listOf(webhookTables.columns.webhook_deliveries, {
  sortable: [
    'id',
    'event',
    'status',
    'attempts',
    'status_code',
    'duration_ms',
    'next_attempt_at',
    'created_at',
  ],
  searchable: ['event', 'answer'],
})

/** @param isAdmin true if whole addresses are shown, and searched, which reveals their content. */
export async function listWebhooks(
  database: Database,
  parameters: ListParameters,
  isAdmin: boolean,
): Promise<Page<Webhook>> {
  const list = isAdmin ? webhookList : { ...webhookList, searchable: ['events' as const] }
  const page = await listRows(database.selectFrom('webhooks').selectAll(), list, parameters)
  return { ...page, rows: page.rows.map(row => toWebhook(row, isAdmin)) }
}

export function findWebhook(database: Database, id: string): Promise<WebhookRow | undefined> {
  return database.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Returns the ids of webhooks that still exist. */
export async function existingWebhooks(database: Database, ids: readonly string[]): Promise<string[]> {
  const rows = await database
    .selectFrom('webhooks')
    .select('id')
    .where('id', 'in', ids)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Saves a webhook and its subscriptions: none while disabled. Must be called in a transaction. */
export async function saveWebhook(transaction: Database, { id, ...values }: WebhookRow): Promise<void> {
  const insert = transaction.insertInto('webhooks').values({ id, ...values })
  await insert.onConflict(conflict => conflict.column('id').doUpdateSet(values)).execute()
  await removeSubscriptions(transaction, id)
  if (values.disabled_reason !== null) return
  const rows = eventsOf(values).map(event => ({ event, kind: subscriberKind, ref: id }))
  await transaction.insertInto('event_subscriptions').values(rows).execute()
}

export async function setFailingSince(
  database: Database,
  id: string,
  failing_since: string | null,
): Promise<void> {
  await database.updateTable('webhooks').set({ failing_since }).where('id', '=', id).execute()
}

export async function countWebhooks(database: Database): Promise<number> {
  const count = database.selectFrom('webhooks').select(({ fn }) => fn.countAll<number | string>().as('count'))
  return Number((await count.executeTakeFirstOrThrow()).count)
}

/** Deletes a webhook with its deliveries. Must be called in a transaction. */
export async function deleteWebhook(transaction: Database, id: string): Promise<void> {
  await removeSubscriptions(transaction, id)
  await transaction.deleteFrom('webhooks').where('id', '=', id).execute()
}

async function removeSubscriptions(transaction: Database, ref: string): Promise<void> {
  const subscriptions = transaction.deleteFrom('event_subscriptions').where('kind', '=', subscriberKind)
  await subscriptions.where('ref', '=', ref).execute()
}

/** Lists deliveries of the last 30 days, and older pending ones. */
export async function listDeliveries(
  database: Database,
  webhookId: string,
  { status, ...query }: DeliveryListQuery,
  now: number,
) {
  let deliveries = database
    .selectFrom('webhook_deliveries')
    .select(deliveryColumns)
    .where('webhook_id', '=', webhookId)
    .where(({ or, eb }) =>
      or([eb('created_at', '>=', oldestKept(now)), eb('next_attempt_at', 'is not', null)]),
    )
  if (status !== undefined) deliveries = deliveries.where('status', 'in', status)
  const page = await listRows(deliveries, deliveryList, query)
  return { ...page, rows: page.rows as Delivery[] }
}

export function findDelivery(database: Database, id: string): Promise<DeliveryRow | undefined> {
  return database.selectFrom('webhook_deliveries').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Inserts deliveries; existing ones stay unchanged. */
export async function insertDeliveries(database: Database, rows: readonly DeliveryRow[]): Promise<void> {
  if (rows.length === 0) return
  const insert = database.insertInto('webhook_deliveries').values(rows)
  await insert.onConflict(conflict => conflict.column('id').doNothing()).execute()
}

/** Returns pending deliveries, the earliest first; only these have a next attempt. */
export async function pendingDeliveries(
  database: Database,
  webhookId: string,
  limit: number,
): Promise<PendingDelivery[]> {
  const pending = database
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where('next_attempt_at', 'is not', null)
  return await pending
    .orderBy('next_attempt_at')
    .orderBy('id')
    .limit(limit)
    .$narrowType<{ next_attempt_at: NotNull }>()
    .execute()
}

export async function failPending(database: Database, webhookId: string, answer: string): Promise<void> {
  await database
    .updateTable('webhook_deliveries')
    .set({ status: 'failed', answer, next_attempt_at: null })
    .where('webhook_id', '=', webhookId)
    .where('next_attempt_at', 'is not', null)
    .execute()
}

/** Deletes a few at a time, so that no request waits for it. */
export async function removeOldDeliveries(
  database: Database,
  webhookIds: readonly string[],
  now: number,
): Promise<void> {
  if (webhookIds.length === 0) return
  const old = database
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('webhook_id', 'in', webhookIds)
    .where('created_at', '<', oldestKept(now))
    .where('next_attempt_at', 'is', null)
    .limit(maxRemoved)
  await database.deleteFrom('webhook_deliveries').where('id', 'in', old).execute()
}

function oldestKept(now: number): string {
  return new Date(now - keptMs).toISOString()
}

/** Records successes of deliveries that have not changed during the attempt. */
export async function recordSuccesses(database: Database, rows: readonly DeliveryRow[]): Promise<void> {
  if (rows.length === 0) return
  const insert = database.insertInto('webhook_deliveries').values(rows)
  await insert
    .onConflict(conflict =>
      conflict
        .column('id')
        .doUpdateSet(({ ref }) => ({
          status: ref('excluded.status'),
          attempts: ref('excluded.attempts'),
          status_code: ref('excluded.status_code'),
          duration_ms: ref('excluded.duration_ms'),
          answer: ref('excluded.answer'),
          next_attempt_at: null,
        }))
        .where('webhook_deliveries.status', '=', 'pending')
        .where(({ eb }) => eb('webhook_deliveries.attempts', '=', eb('excluded.attempts', '-', 1))),
    )
    .execute()
}

/** Returns false and changes nothing if the delivery has changed meanwhile. */
export async function updateDelivery(
  database: Database,
  { id, status, attempts }: DeliveryRow,
  changes: Partial<DeliveryRow>,
): Promise<boolean> {
  const update = database.updateTable('webhook_deliveries').set(changes).where('id', '=', id)
  const unchanged = update.where('status', '=', status).where('attempts', '=', attempts)
  return (await unchanged.executeTakeFirstOrThrow()).numUpdatedRows > 0n
}

/** @param isAdmin true if the address is shown with its query, which often is a secret. */
export function toWebhook(
  { url, events, disabled_reason, secret_set: _, ...row }: WebhookRow,
  isAdmin = true,
): Webhook {
  const shown = isAdmin ? url : url.replace(/[?#].*$/s, '')
  return {
    ...row,
    url: shown,
    events: eventsOf({ events }),
    enabled: disabled_reason === null,
    disabled_reason,
  }
}

function eventsOf({ events }: Pick<WebhookRow, 'events'>): string[] {
  return parseJsonColumn<string[]>(events, [])
}
