/** The events of this feature; what was paid stands in the agent's database. */
export interface PaymentEvents {
  /** Money has come in: once for each transaction. */
  'payment.received': { agentId: string; transactionId: string }
  /** A notification fits no transaction. */
  'payment.unmatched': { agentId: string; notificationId: string }
}

export const paymentEventNames = [
  'payment.received',
  'payment.unmatched',
] as const satisfies (keyof PaymentEvents)[]
