import type { Kysely, Selectable } from 'kysely'
import type { AgentTables } from '#storage/tables.ts'

type Database = Kysely<AgentTables>
export type RequestRow = Selectable<AgentTables['provider_requests']>

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

/** @param keptSince before that, keys of callers are forgotten; ISO 8601. */
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

/** The checkout that a transaction was made for. */
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

/** The answer that an event was given before. */
export async function findEvent(database: Database, id: string): Promise<string | undefined> {
  const row = await database
    .selectFrom('provider_events')
    .select('answer')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.answer
}

/** @param keptSince what is older can't come again; ISO 8601. */
export async function insertEvent(
  database: Database,
  event: Selectable<AgentTables['provider_events']>,
  keptSince: string,
): Promise<void> {
  await database.deleteFrom('provider_events').where('created_at', '<', keptSince).execute()
  await database.insertInto('provider_events').values(event).execute()
}
