import type { Kysely, Selectable } from 'kysely'
import { listLarge } from '#platform/http/lists/list-large.ts'
import { listOf } from '#platform/http/lists/list-of.ts'
import type { ListParameters } from '#platform/http/lists/list-query.ts'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import { paymentTables } from '#storage/tables/payments.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Delivery } from './resources.schema.ts'

type Database = Kysely<AgentTables>
export type ResourceRow = Selectable<AgentTables['x402_resources']>

const columns = ['id', 'path', 'price', 'currency', 'network', 'description', 'created_at'] as const

const resourceList = listOf(paymentTables.columns.x402_resources, {
  sortable: ['id', 'path', 'currency', 'network', 'description', 'created_at'],
  searchable: ['path', 'description'],
})

export function listResources(database: Database, parameters: ListParameters) {
  const places = database
    .selectFrom('x402_resources')
    .leftJoin('x402_deliveries', 'resource_id', 'id')
    .select(columns)
    .select(({ fn, val }) => fn.coalesce('size', val(0)).$castTo<number>().as('size'))
  const read = async (ids: readonly string[]) => {
    const rows = await withDelivery(database).where('id', 'in', ids).execute()
    return rows.map(toResource)
  }
  return listLarge(places, resourceList, parameters, { key: 'id', read })
}

function withDelivery(database: Database) {
  return database
    .selectFrom('x402_resources')
    .leftJoin('x402_deliveries', 'resource_id', 'id')
    .select([...columns, 'deliver'])
}

function toResource<Row extends { deliver: string | null }>({ deliver, ...resource }: Row) {
  return { ...resource, ...(deliver !== null && { deliver: JSON.parse(deliver) as Delivery }) }
}

/** Returns a sold path with its delivery. */
export async function findSoldPath(database: Database, path: string) {
  const row = await withDelivery(database).where('path', '=', path).executeTakeFirst()
  return row && toResource(row)
}

const selectByPath = prepareQuery((database: Database, value: ValueOf<'path'>) =>
  database.selectFrom('x402_resources').selectAll().where('path', '=', value('path')),
)

export async function findByPath(database: Database, path: string): Promise<ResourceRow | undefined> {
  return (await selectByPath(database, { path }))[0]
}

/** Returns those of the paths that are sold. */
export async function findSold(database: Database, paths: readonly string[]): Promise<string[]> {
  const rows = await database.selectFrom('x402_resources').select('path').where('path', 'in', paths).execute()
  return rows.map(({ path }) => path)
}

/** Returns false and inserts nothing if the path is sold already. */
export async function insertResource(
  database: Database,
  row: ResourceRow,
  delivery: Delivery | undefined,
): Promise<boolean> {
  return await inTransaction(database, async transaction => {
    const inserted = await transaction
      .insertInto('x402_resources')
      .values(row)
      .onConflict(conflict => conflict.column('path').doNothing())
      .returning('id')
      .executeTakeFirst()
    if (inserted === undefined || delivery === undefined) return inserted !== undefined
    const deliver = JSON.stringify(delivery)
    const values = { resource_id: row.id, deliver, size: Buffer.byteLength(deliver) }
    await transaction.insertInto('x402_deliveries').values(values).execute()
    return true
  })
}

/** Returns false if there is none. */
export async function deleteResource(database: Database, id: string): Promise<boolean> {
  const { numDeletedRows } = await inTransaction(database, transaction =>
    transaction.deleteFrom('x402_resources').where('id', '=', id).executeTakeFirst(),
  )
  return numDeletedRows > 0n
}
