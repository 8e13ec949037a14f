import { type Static, Type } from 'typebox'
import { filterBy, listParameters } from '#platform/http/lists/list-query.ts'
import { orNull } from '#platform/own-schemas.ts'

/*
 * Webhook: an address that receives events of an agent. Delivery: one event for one webhook.
 * (none) --event or test--> pending --2xx--> succeeded; pending --last attempt, 410, disabled--> failed;
 * any --retry--> pending
 */
export const deliveryStatuses = ['pending', 'succeeded', 'failed'] as const

const time = Type.String({ format: 'date-time' })

export const newWebhookSchema = Type.Object({
  url: Type.String({ minLength: 1, maxLength: 2048, examples: ['https://example.com/events'] }),
  events: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: 100,
    description: 'Names of events, or `*` for all events.',
    examples: [['message.sent', 'source.ready']],
  }),
})
export type NewWebhook = Static<typeof newWebhookSchema>

export const webhookChangesSchema = Type.Partial(
  Type.Object({ ...newWebhookSchema.properties, enabled: Type.Boolean() }),
  { minProperties: 1, examples: [{ enabled: false }] },
)
export type WebhookChanges = Static<typeof webhookChangesSchema>

export const webhookSchema = Type.Object(
  {
    id: Type.String(),
    url: Type.String({ description: 'The query of the URL is hidden from viewers.' }),
    events: Type.Array(Type.String()),
    enabled: Type.Boolean(),
    disabled_reason: orNull(Type.String()),
    failing_since: orNull(time),
    created_at: time,
    updated_at: time,
  },
  { title: 'Webhook' },
)
export type Webhook = Static<typeof webhookSchema>

export const webhookWithSecretSchema = Type.Object(
  {
    ...webhookSchema.properties,
    secret: Type.String({ description: 'Signs deliveries. Only this answer contains it.' }),
  },
  { title: 'WebhookWithSecret' },
)

export const deliverySchema = Type.Object(
  {
    id: Type.String({ description: 'The header `webhook-id` of each attempt.' }),
    event: Type.String(),
    status: Type.Enum([...deliveryStatuses]),
    attempts: Type.Integer(),
    status_code: orNull(Type.Integer({ description: 'Status code of the last answer.' })),
    duration_ms: orNull(Type.Integer()),
    answer: orNull(
      Type.String({ description: 'First 1,024 bytes of the last answer, or the reason why there was none.' }),
    ),
    next_attempt_at: orNull(time),
    created_at: time,
  },
  { title: 'WebhookDelivery' },
)
export type Delivery = Static<typeof deliverySchema>

export const deliveryListQuery = Type.Object({
  ...listParameters,
  status: filterBy(Type.Enum([...deliveryStatuses])),
})
export type DeliveryListQuery = Static<typeof deliveryListQuery>
