import type { Kysely, Selectable } from 'kysely'
import { listOf } from '#platform/http/lists/list-of.ts'
import { type ListParameters, listRows } from '#platform/http/lists/list-query.ts'
import { parseJsonColumn } from '#storage/json-column.ts'
import { paymentTables } from '#storage/tables/payments.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Method, MethodType } from './methods.schema.ts'

type Database = Kysely<AgentTables>
export type MethodRow = Selectable<AgentTables['payment_methods']>

const methodList = listOf(paymentTables.columns.payment_methods, {
  sortable: ['id', 'type', 'label', 'created_at'],
  searchable: ['label'],
})

function methods(database: Database) {
  return database.selectFrom('payment_methods').selectAll()
}

export async function listMethods(database: Database, parameters: ListParameters) {
  const { rows, meta } = await listRows(methods(database), methodList, parameters)
  return { rows: rows.map(toMethod), meta }
}

/** Finds methods with equal masked details. */
export function findAlike(database: Database, { type, details }: Pick<MethodRow, 'type' | 'details'>) {
  return methods(database).where('type', '=', type).where('details', '=', details).orderBy('id').execute()
}

export async function insertMethod(database: Database, row: MethodRow): Promise<void> {
  await database.insertInto('payment_methods').values(row).execute()
}

/** Returns the deleted row, if there was one. */
export async function deleteMethod(database: Database, id: string): Promise<MethodRow | undefined> {
  return await database.deleteFrom('payment_methods').where('id', '=', id).returningAll().executeTakeFirst()
}

export function toMethod({ type, details, secret_set: _, ...row }: MethodRow): Method {
  return { ...row, type: type as MethodType, details: parseJsonColumn(details, {}) }
}
