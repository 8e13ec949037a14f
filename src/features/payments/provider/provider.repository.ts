import type { Kysely, Selectable } from 'kysely'
import type { AgentTables } from '#storage/tables.ts'

type Database = Kysely<AgentTables>
export type RequestRow = Selectable<AgentTables['provider_requests']>
export type EarlyChange = Selectable<AgentTables['early_payment_changes']>

export async function findRequest(
  database: Database,
  by: Partial<Pick<RequestRow, 'id' | 'caller_key'>>,
): Promise<RequestRow | undefined> {
  return await database
    .selectFrom('provider_requests')
    .selectAll()
    .where(({ and }) => and(by))
    .executeTakeFirst()
}

/** @param keptSince callers' keys from before it are forgotten; ISO 8601. */
export async function insertRequest(database: Database, row: RequestRow, keptSince: string): Promise<void> {
  if (row.caller_key !== null)
    await database
      .updateTable('provider_requests')
      .set({ caller_key: null })
      .where('caller_key', '=', row.caller_key)
      .where('created_at', '<', keptSince)
      .execute()
  await database.insertInto('provider_requests').values(row).execute()
}

export async function answerRequest(database: Database, id: string, answer: string): Promise<void> {
  await database.updateTable('provider_requests').set({ answer }).where('id', '=', id).execute()
}

/** Finds the checkout of a transaction. */
export async function findCheckout(
  database: Database,
  transactionId: string,
): Promise<RequestRow | undefined> {
  return await database
    .selectFrom('provider_requests')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .where('kind', '=', 'checkout')
    .executeTakeFirst()
}

/** Returns the former response to an event. */
export async function findEvent(database: Database, id: string): Promise<string | undefined> {
  const row = await database
    .selectFrom('provider_events')
    .select('answer')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.answer
}

/** @param keptSince older events can't recur, nor can their payments; ISO 8601. */
export async function insertEvent(
  database: Database,
  event: Selectable<AgentTables['provider_events']>,
  keptSince: string,
): Promise<void> {
  for (const table of ['provider_events', 'early_payment_changes'] as const)
    await database.deleteFrom(table).where('created_at', '<', keptSince).execute()
  await database.insertInto('provider_events').values(event).execute()
}

export async function keepEarlyChange(database: Database, change: EarlyChange): Promise<void> {
  await database.insertInto('early_payment_changes').values(change).execute()
}

/** Removes the changes reported before the payment with these keys; returns them in order of arrival. */
export async function takeEarlyChanges(database: Database, keys: readonly string[]): Promise<EarlyChange[]> {
  const taken = await database
    .deleteFrom('early_payment_changes')
    .where('payment_key', 'in', keys)
    .returningAll()
    .execute()
  return taken.toSorted((one, other) => (one.created_at < other.created_at ? -1 : 1))
}
