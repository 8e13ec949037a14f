import { defineAgentTables, hidden, readable } from './table-set.ts'

/**
 * Money that an agent gets and spends. What names accounts, or decides what was paid, is out of reach of its SQL. Amounts
 * are decimal texts.
 */
export interface PaymentTables {
  transactions: TransactionsTable
  transaction_keys: TransactionKeysTable
  payment_methods: PaymentMethodsTable
  payment_notifications: PaymentNotificationsTable
  x402_resources: X402ResourcesTable
  provider_requests: ProviderRequestsTable
  provider_events: ProviderEventsTable
}

interface TransactionsTable {
  id: string
  type: string
  amount: string
  /** The amount as a text that sorts like the number. */
  amount_key: string
  currency: string
  from: string | null
  to: string | null
  reference: string | null
  source: string
  state: string
  refunded: string
  note: string | null
  created_at: string
  updated_at: string
}

/** Names of payments elsewhere, such as a charge at the provider: each belongs to one transaction. */
interface TransactionKeysTable {
  key: string
  transaction_id: string
}

interface PaymentMethodsTable {
  id: string
  type: string
  label: string
  /** JSON object, in which account numbers are masked. */
  details: string
  /** The set of secrets that holds all of the details. */
  secret_set: string | null
  created_at: string
}

interface PaymentNotificationsTable {
  id: string
  gateway: string
  message: string
  status: string
  transaction_id: string | null
  /** What was read in the message; null where it is not certain. */
  amount: string | null
  currency: string | null
  from: string | null
  reference: string | null
  created_at: string
}

interface X402ResourcesTable {
  id: string
  path: string
  price: string
  currency: string
  network: string
  description: string
  /** JSON: what a payment has to be, except whom it goes to. */
  terms: string
  created_at: string
}

/** What was asked of the provider: asked again, under the same key, until the outcome is known. */
interface ProviderRequestsTable {
  /** Sent to the provider as the idempotency key. */
  id: string
  kind: string
  /** The caller's own idempotency key, for 24 hours. */
  caller_key: string | null
  /** JSON. */
  body: string
  transaction_id: string | null
  /** JSON `{status, body}`; null while the outcome is open. */
  answer: string | null
  created_at: string
}

/** Events of the provider that were processed. */
interface ProviderEventsTable {
  id: string
  /** JSON. */
  answer: string
  created_at: string
}

/** All columns hold text, the first one is the key, and those with a question mark may be null. */
const textColumns: Record<keyof PaymentTables, readonly [string, ...string[]]> = {
  transactions: [
    'id',
    'type',
    'amount',
    'amount_key',
    'currency',
    'from?',
    'to?',
    'reference?',
    'source',
    'state',
    'refunded',
    'note?',
    'created_at',
    'updated_at',
  ],
  transaction_keys: ['key', 'transaction_id'],
  payment_methods: ['id', 'type', 'label', 'details', 'secret_set?', 'created_at'],
  payment_notifications: [
    'id',
    'gateway',
    'message',
    'status',
    'transaction_id?',
    'amount?',
    'currency?',
    'from?',
    'reference?',
    'created_at',
  ],
  x402_resources: ['id', 'path', 'price', 'currency', 'network', 'description', 'terms', 'created_at'],
  provider_requests: ['id', 'kind', 'caller_key?', 'body', 'transaction_id?', 'answer?', 'created_at'],
  provider_events: ['id', 'answer', 'created_at'],
}

const indexes = [
  ['transactions_created_at', 'transactions', ['created_at', 'id']],
  ['transactions_reference', 'transactions', ['reference']],
  ['transaction_keys_transaction', 'transaction_keys', ['transaction_id']],
  ['payment_notifications_created_at', 'payment_notifications', ['created_at', 'id']],
  ['payment_notifications_transaction', 'payment_notifications', ['transaction_id']],
  ['provider_requests_transaction', 'provider_requests', ['transaction_id']],
  ['provider_events_created_at', 'provider_events', ['created_at']],
] as const

const uniqueColumns = [
  ['x402_resources', 'path'],
  ['provider_requests', 'caller_key'],
] as const

export const paymentTables = defineAgentTables<PaymentTables>({
  rules: {
    transactions: { sql: readable, copy: { key: ['id'] } },
    transaction_keys: { sql: hidden, copy: { key: ['key'] } },
    payment_methods: { sql: hidden, copy: { key: ['id'] } },
    payment_notifications: { sql: readable, copy: { key: ['id'] } },
    x402_resources: { sql: readable, copy: { key: ['id'] } },
    provider_requests: { sql: hidden, copy: { key: ['id'] } },
    provider_events: { sql: hidden, copy: { key: ['id'] } },
  },
  async create(db, { textType }) {
    for (const [table, [key, ...others]] of Object.entries(textColumns)) {
      const keyed = db.schema.createTable(table).addColumn(key, textType, column => column.primaryKey())
      await others
        .reduce((created, column) => {
          const name = column.replace('?', '')
          return created.addColumn(name, textType, built => (name === column ? built.notNull() : built))
        }, keyed)
        .execute()
    }
    for (const [name, table, columns] of indexes)
      await db.schema
        .createIndex(name)
        .on(table)
        .columns([...columns])
        .execute()
    for (const [table, column] of uniqueColumns)
      await db.schema.createIndex(`${table}_${column}`).unique().on(table).column(column).execute()
  },
})
