import { integer, partOf, since, text, textOrNull } from '#platform/columns.ts'
import { declareAgentTables, hidden, readable } from './table-set.ts'

/**
 * Money that an agent gets and spends. Its SQL reaches no account names, and nothing that decides whether something was paid.
 * Amounts are decimal texts.
 */
export const paymentTables = declareAgentTables({
  transactions: {
    sql: readable,
    columns: {
      id: text,
      type: text,
      amount: text,
      /** The amount as a text that sorts like the number. */
      amount_key: text,
      currency: text,
      from: textOrNull,
      to: textOrNull,
      reference: textOrNull,
      source: text,
      state: text,
      refunded: text,
      note: textOrNull,
      created_at: text,
      updated_at: text,
      /** JSON: refunds and disputes as they were reported; null before the first. */
      reversals: since('0021-payment-reversals', textOrNull),
    },
    indexes: { created_at: ['created_at', 'id'], reference: ['reference'] },
  },
  /** Names of payments elsewhere, such as a charge at the provider: each belongs to one transaction. */
  transaction_keys: {
    sql: hidden,
    columns: {
      key: text,
      transaction_id: text,
    },
    key: ['key'],
    indexes: { transaction: ['transaction_id'] },
  },
  payment_methods: {
    sql: hidden,
    columns: {
      id: text,
      type: text,
      label: text,
      /** JSON object, in which account numbers are masked. */
      details: text,
      /** The set of secrets that holds all of the details. */
      secret_set: textOrNull,
      created_at: text,
    },
  },
  payment_notifications: {
    sql: readable,
    columns: {
      id: text,
      gateway: text,
      message: text,
      status: text,
      transaction_id: textOrNull,
      /** The amount read from the message; null if uncertain. */
      amount: textOrNull,
      currency: textOrNull,
      from: textOrNull,
      reference: textOrNull,
      created_at: text,
    },
    indexes: { created_at: ['created_at', 'id'], transaction: ['transaction_id'] },
  },
  x402_resources: {
    sql: readable,
    columns: {
      id: text,
      path: text,
      price: text,
      currency: text,
      network: text,
      description: text,
      /** JSON: the terms of a payment, without its recipient. */
      terms: text,
      created_at: text,
    },
    indexes: { path: { on: ['path'], isUnique: true } },
  },
  /** Requests to the provider, repeated under the same key until the outcome is known. */
  provider_requests: {
    sql: hidden,
    columns: {
      /** Sent to the provider as the idempotency key. */
      id: text,
      kind: text,
      /** The caller's own idempotency key, for 24 hours. */
      caller_key: textOrNull,
      /** JSON. */
      body: text,
      transaction_id: textOrNull,
      /** JSON `{status, body}`; null while the outcome is open. */
      answer: textOrNull,
      created_at: text,
    },
    indexes: { caller_key: { on: ['caller_key'], isUnique: true }, transaction: ['transaction_id'] },
  },
  /** Events of the provider that were processed. */
  provider_events: {
    sql: hidden,
    columns: {
      id: text,
      /** JSON. */
      answer: text,
      created_at: text,
    },
    indexes: { created_at: ['created_at'] },
  },
})

/** Refunds and disputes that were reported before their payment was. */
export const earlyChangeTables = declareAgentTables({
  early_payment_changes: {
    sql: hidden,
    columns: {
      event_id: text,
      /** One of the payment's keys; null if it was named by none. */
      payment_key: textOrNull,
      /** JSON. */
      change: text,
      created_at: text,
    },
    key: ['event_id'],
    indexes: { payment_key: ['payment_key'], created_at: ['created_at'] },
  },
})

/** Separate from the resources, because models of the agent could give away the goods. */
export const deliveryTables = declareAgentTables({
  x402_deliveries: {
    sql: hidden,
    columns: {
      resource_id: partOf('x402_resources'),
      /** JSON: `{workflow_id}`, or `{body, content_type}`. */
      deliver: text,
      /** Bytes of `deliver`. */
      size: integer,
    },
    key: ['resource_id'],
  },
})
