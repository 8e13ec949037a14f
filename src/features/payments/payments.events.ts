import { Type } from 'typebox'
import { eventOf, type PayloadsOf } from '#platform/jobs/event-payloads.ts'

/** The events of this feature; amounts and payers stay in the agent's database. */
export const paymentEvents = {
  'payment.received': eventOf('Money has come in: once for each transaction.', {
    transaction_id: Type.String(),
  }),
  'payment.unmatched': eventOf('A notification fits no transaction.', { notification_id: Type.String() }),
}
export type PaymentEvents = PayloadsOf<typeof paymentEvents>
