import { type Static, Type } from 'typebox'

export const methodTypes = ['crypto', 'bank', 'card', 'paypal', 'mobile_money', 'other'] as const
export type MethodType = (typeof methodTypes)[number]

const details = Type.Record(Type.String(), Type.String({ maxLength: 500 }), {
  description:
    'crypto: address, network. bank: iban, or account_number and bank_code; holder. card: card_id of the provider, never a ' +
    'card number; brand, last4. paypal: email. mobile_money: phone, provider. other: anything.',
  maxProperties: 20,
  examples: [{ address: '0x857b06519E91e3A54538791bDbb0E22373e36b66', network: 'base' }],
})
export type Details = Static<typeof details>

export const newMethodSchema = Type.Object({
  type: Type.Enum([...methodTypes], { examples: ['crypto'] }),
  label: Type.String({ minLength: 1, maxLength: 200, pattern: '\\S', examples: ['Main wallet'] }),
  details,
})
export type NewMethod = Static<typeof newMethodSchema>

export const methodSchema = Type.Object(
  {
    id: Type.String(),
    type: Type.Enum([...methodTypes]),
    label: Type.String(),
    details: Type.Record(Type.String(), Type.String(), {
      description: 'Account numbers are shown by their last digits. Viewers see only the ends of addresses.',
    }),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'PaymentMethod' },
)
export type Method = Static<typeof methodSchema>
