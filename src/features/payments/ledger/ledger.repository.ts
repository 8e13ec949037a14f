import { type ExpressionBuilder, type Kysely, type Selectable, sql } from 'kysely'
import { readDates } from '#platform/http/lists/list-dates.ts'
import { listOf } from '#platform/http/lists/list-of.ts'
import { listRows } from '#platform/http/lists/list-query.ts'
import { paymentTables } from '#storage/tables/payments.ts'
import type { AgentTables } from '#storage/tables.ts'
import { add, sortKey } from '../money.ts'
import type { ExportQuery, SummaryQuery, Transaction, TransactionListQuery } from './ledger.schema.ts'
import type { LedgerEntry } from './merge-transaction.ts'

type Database = Kysely<AgentTables>
type Row = Selectable<AgentTables['transactions']>

const transactionList = listOf(paymentTables.columns.transactions, {
  sortable: {
    id: 'id',
    type: 'type',
    amount: 'amount_key',
    currency: 'currency',
    from: 'from',
    to: 'to',
    reference: 'reference',
    source: 'source',
    state: 'state',
    created_at: 'created_at',
    updated_at: 'updated_at',
  },
  searchable: ['from', 'to', 'reference', 'note'],
})

type Filters = Pick<TransactionListQuery, 'type' | 'currency' | 'state'>

function filtered(database: Database, { type, currency, state = ['settled'] }: Filters) {
  return database
    .selectFrom('transactions')
    .selectAll()
    .where('state', 'in', state)
    .$if(type !== undefined, query => query.where('type', '=', type ?? ''))
    .$if(currency !== undefined, query => query.where('currency', '=', currency?.toUpperCase() ?? ''))
}

export async function listTransactions(database: Database, query: TransactionListQuery) {
  const { rows, meta } = await listRows(filtered(database, query), transactionList, query)
  return { rows: rows.map(toTransaction), meta }
}

function within(query: { from?: string; to?: string }) {
  const { from = '', to = '9' } = readDates(query)
  return ({ eb }: ExpressionBuilder<AgentTables, 'transactions'>) => eb.between('created_at', from, to)
}

/** Reads the `limit` transactions after `after`, by time, then id. */
export async function readTransactions(
  database: Database,
  query: ExportQuery,
  after: Transaction | undefined,
  limit: number,
): Promise<Transaction[]> {
  const rows = await filtered(database, query)
    .where(within(query))
    .$if(after !== undefined, rest =>
      rest.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('created_at', 'id'), '>', tuple(after?.created_at ?? '', after?.id ?? '')),
      ),
    )
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(toTransaction)
}

/** Counts equal settled transactions: one row for each different amount. */
export function countAlike(database: Database, { group, ...dates }: SummaryQuery) {
  const length = { day: 10, month: 7 } as const
  const period =
    group === undefined
      ? sql<string | null>`null`
      : sql<string | null>`substr(created_at, 1, ${sql.lit(length[group])})`
  return database
    .selectFrom(
      database
        .selectFrom('transactions')
        .select(['type', 'currency', 'amount', 'refunded', period.as('period')])
        .where('state', '=', 'settled')
        .where(within(dates))
        .as('settled'),
    )
    .select(({ fn }) => [
      'period',
      'type',
      'currency',
      'amount',
      'refunded',
      fn.countAll<number>().as('count'),
    ])
    .groupBy(['period', 'type', 'currency', 'amount', 'refunded'])
    .orderBy('period')
    .orderBy('type')
    .orderBy('currency')
    .execute()
}

/** Sums the dollars that the agent has spent, or might have spent, from the beginning of a day. */
export async function sumSpent(database: Database, day: string): Promise<string> {
  const rows = await database
    .selectFrom('transactions')
    .select('amount')
    .where('created_at', '>=', day)
    .where('type', '=', 'outbound')
    .where('source', '=', 'x402')
    .where('state', '!=', 'failed')
    .execute()
  return rows.reduce((sum, { amount }) => add(sum, amount, 'USD'), '0')
}

/** Returns a transaction with its reversals. */
export async function findEntry(database: Database, id: string): Promise<LedgerEntry | undefined> {
  const row = await database.selectFrom('transactions').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toEntry(row)
}

export async function findTransaction(database: Database, id: string): Promise<Transaction | undefined> {
  const row = await database.selectFrom('transactions').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toTransaction(row)
}

/** Finds the transaction with one of the keys. */
export async function findByKeys(
  database: Database,
  keys: readonly string[],
): Promise<LedgerEntry | undefined> {
  const row = await database
    .selectFrom('transactions')
    .innerJoin('transaction_keys', 'transaction_keys.transaction_id', 'transactions.id')
    .selectAll('transactions')
    .where('transaction_keys.key', 'in', keys)
    .orderBy('transactions.created_at')
    .orderBy('transactions.id')
    .limit(1)
    .executeTakeFirst()
  return row && toEntry(row)
}

export async function keysOf(database: Database, transactionId: string): Promise<string[]> {
  const rows = await database
    .selectFrom('transaction_keys')
    .select('key')
    .where('transaction_id', '=', transactionId)
    .orderBy('key')
    .execute()
  return rows.map(({ key }) => key)
}

export async function addKeys(
  database: Database,
  transaction_id: string,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return
  await database
    .insertInto('transaction_keys')
    .values(keys.map(key => ({ key, transaction_id })))
    .onConflict(conflict => conflict.column('key').doNothing())
    .execute()
}

export async function insertTransaction(database: Database, transaction: LedgerEntry): Promise<void> {
  await database.insertInto('transactions').values(toRow(transaction)).execute()
}

export async function updateTransaction(database: Database, transaction: LedgerEntry): Promise<void> {
  await database
    .updateTable('transactions')
    .set(toRow(transaction))
    .where('id', '=', transaction.id)
    .execute()
}

/** Finds income that a notification can report, and that no other notification reports. */
export async function findUnmatched(
  database: Database,
  by: { reference: string } | { amount: string; currency: string; from: string; to: string },
): Promise<Transaction[]> {
  const rows = await database
    .selectFrom('transactions')
    .selectAll()
    .where('type', 'in', ['inbound', 'x402'])
    .where('state', '!=', 'failed')
    .where(({ eb, and }) =>
      'reference' in by
        ? eb('reference', '=', by.reference)
        : and([
            eb('amount', '=', by.amount),
            eb('currency', '=', by.currency),
            eb('created_at', '>=', by.from),
            eb('created_at', '<=', by.to),
          ]),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('payment_notifications')
            .select('payment_notifications.id')
            .whereRef('payment_notifications.transaction_id', '=', 'transactions.id'),
        ),
      ),
    )
    .limit(2)
    .execute()
  return rows.map(toTransaction)
}

function toRow({ reversals, ...transaction }: LedgerEntry): Row {
  return {
    ...transaction,
    amount_key: sortKey(transaction.amount),
    reversals: JSON.stringify(reversals),
  }
}

/** Only the ledger writes these rows. */
function toTransaction({ amount_key: _, reversals: __, ...row }: Row): Transaction {
  return row as Transaction
}

function toEntry(row: Row): LedgerEntry {
  const { reversals, refunded } = row
  // Earlier versions stored only the sum of the reversals.
  const keptReversals = reversals === null ? { total: { at: 0, amount: refunded } } : JSON.parse(reversals)
  return { ...toTransaction(row), reversals: keptReversals }
}
