import type { Kysely } from 'kysely'
import { csvLine } from '#platform/http/responses/csv.ts'
import type { AgentTables } from '#storage/tables.ts'
import { readTransactions } from './ledger.repository.ts'
import type { ExportQuery, Transaction } from './ledger.schema.ts'

const pageSize = 500

const cells = [
  'id',
  'created_at',
  'type',
  'amount',
  'currency',
  'refunded',
  'from',
  'to',
  'reference',
  'source',
  'state',
  'note',
] as const satisfies (keyof Transaction)[]

/** Exports transactions as CSV, the oldest first. With the byte order mark, Excel reads it as UTF-8. */
export async function* exportTransactions(
  database: Kysely<AgentTables>,
  query: ExportQuery,
): AsyncGenerator<string> {
  yield `\ufeff${csvLine(cells)}`
  let page = await readTransactions(database, query, undefined, pageSize)
  while (page.length > 0) {
    yield page.map(row => csvLine(cells.map(name => row[name] ?? ''))).join('')
    page = await readTransactions(database, query, page.at(-1), pageSize)
  }
}
