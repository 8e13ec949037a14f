import { integer, lease, text, textOrNull } from '#platform/columns.ts'
import { declarePlatformTables } from './table-set.ts'

/** Payments by x402 that were presented: of the whole service, because agents can share an address. */
export const paymentClaimTables = declarePlatformTables({
  x402_claims: {
    columns: {
      /** Network, asset, payer and nonce, which identify a payment. */
      key: text,
      agent_id: text,
      /** Hash of the request that it pays for. */
      binding: text,
      /** `claimed`, `settling`, `stuck`, `settled` or `served`. */
      state: text,
      /** Requests that presented it. */
      uses: integer,
      /** The process that works on it. */
      holder: lease,
      lease_expires_at: lease,
      /** JSON: payment, requirements and, once there is one, the answer of the facilitator. */
      payment: text,
      /** Id in the ledger of the agent. */
      transaction_id: textOrNull,
      created_at: text,
    },
    agent: 'agent_id',
    key: ['key'],
    indexes: { transaction: ['agent_id', 'transaction_id'] },
  },
})
