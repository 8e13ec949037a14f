import { type Static, Type } from 'typebox'
import { listParameters } from '#platform/http/lists/list-query.ts'
import { orNull } from '#platform/own-schemas.ts'

/*
 * Notification: a message of a bank, a wallet or a payment service, and the transaction that it reports.
 * (none) --one fits--> matched, else --> unmatched --match, record--> matched --unmatch--> unmatched
 */
export const notificationStatuses = ['matched', 'unmatched'] as const

const text = orNull(Type.String())

export const newNotificationSchema = Type.Object({
  gateway: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S', examples: ['mpesa'] }),
  message: Type.String({
    minLength: 1,
    maxLength: 20_000,
    pattern: '\\S',
    examples: ['You received 500.00 EUR from Lena Berg. Ref: INV-9'],
  }),
})
export type NewNotification = Static<typeof newNotificationSchema>

export const notificationSchema = Type.Object(
  {
    id: Type.String(),
    gateway: Type.String(),
    message: Type.String(),
    status: Type.Enum([...notificationStatuses]),
    transaction_id: text,
    parsed: Type.Object(
      { amount: text, currency: text, from: text, reference: text },
      { description: 'The data that the message states clearly. Other fields are null.' },
    ),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'PaymentNotification' },
)
export type Notification = Static<typeof notificationSchema>

export const notificationListQuery = Type.Object({
  ...listParameters,
  status: Type.Optional(
    Type.Enum([...notificationStatuses], { description: 'Return only notifications with this status.' }),
  ),
})
export type NotificationListQuery = Static<typeof notificationListQuery>

export const matchSchema = Type.Object({
  transaction_id: Type.String({ examples: ['1b4e28ba-2fa1-41d2-883f-0016d3cca427'] }),
})
