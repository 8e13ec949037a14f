import type { Kysely, Selectable } from 'kysely'
import { listOf } from '#platform/http/lists/list-of.ts'
import type { ListParameters } from '#platform/http/lists/list-query.ts'
import { listRows } from '#platform/http/lists/list-query.ts'
import type { ValueOf } from '#storage/prepared-query.ts'
import { prepareQuery } from '#storage/prepared-query.ts'
import { paymentTables } from '#storage/tables/payments.ts'
import type { AgentTables } from '#storage/tables.ts'

type Database = Kysely<AgentTables>
export type ResourceRow = Selectable<AgentTables['x402_resources']>

const columns = ['id', 'path', 'price', 'currency', 'network', 'description', 'created_at'] as const

const resourceList = listOf(paymentTables.columns.x402_resources, {
  sortable: ['id', 'path', 'currency', 'network', 'description', 'created_at'],
  searchable: ['path', 'description'],
})

export function listResources(database: Database, parameters: ListParameters) {
  return listRows(database.selectFrom('x402_resources').select([...columns]), resourceList, parameters)
}

const selectByPath = prepareQuery((database: Database, value: ValueOf<'path'>) =>
  database.selectFrom('x402_resources').selectAll().where('path', '=', value('path')),
)

export async function findByPath(database: Database, path: string): Promise<ResourceRow | undefined> {
  return (await selectByPath(database, { path }))[0]
}

/** Those of the paths that are sold. */
export async function findSold(database: Database, paths: readonly string[]): Promise<string[]> {
  const rows = await database.selectFrom('x402_resources').select('path').where('path', 'in', paths).execute()
  return rows.map(({ path }) => path)
}

/** False, and nothing is inserted, if the path is sold already. */
export async function insertResource(database: Database, row: ResourceRow): Promise<boolean> {
  const inserted = await database
    .insertInto('x402_resources')
    .values(row)
    .onConflict(conflict => conflict.column('path').doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** False if there is none. */
export async function deleteResource(database: Database, id: string): Promise<boolean> {
  const { numDeletedRows } = await database
    .deleteFrom('x402_resources')
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
