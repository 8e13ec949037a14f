import { definePlatformTables } from './table-set.ts'

/** Payments by x402 that were presented: of the whole service, since agents may share the address that they are paid to. */
export interface PaymentClaimTables {
  x402_claims: X402ClaimsTable
}

interface X402ClaimsTable {
  /** Network, asset, payer and nonce: what makes a payment one that can happen once. */
  key: string
  agent_id: string
  /** Hash of what was asked for with it. */
  binding: string
  /** `claimed`, `settling`, `stuck`, `settled` or `served`. */
  state: string
  /** Times that it was to be answered. */
  uses: number
  /** The process that works on it. */
  holder: string | null
  lease_expires_at: string | null
  /** JSON: payment, requirements and, once there is one, the answer of the facilitator. */
  payment: string
  /** In the ledger of the agent. */
  transaction_id: string | null
  created_at: string
}

export const paymentClaimTables = definePlatformTables<PaymentClaimTables>({
  rules: {
    x402_claims: {
      copy: { key: ['key'], agent: 'agent_id', released: ['holder', 'lease_expires_at'] },
    },
  },
  async create(db, { textType }) {
    await db.schema
      .createTable('x402_claims')
      .addColumn('key', textType, column => column.primaryKey())
      .addColumn('agent_id', textType, column => column.notNull())
      .addColumn('binding', textType, column => column.notNull())
      .addColumn('state', textType, column => column.notNull())
      .addColumn('uses', 'integer', column => column.notNull())
      .addColumn('holder', textType)
      .addColumn('lease_expires_at', textType)
      .addColumn('payment', textType, column => column.notNull())
      .addColumn('transaction_id', textType)
      .addColumn('created_at', textType, column => column.notNull())
      .execute()
    await db.schema
      .createIndex('x402_claims_transaction')
      .on('x402_claims')
      .columns(['agent_id', 'transaction_id'])
      .execute()
  },
})
