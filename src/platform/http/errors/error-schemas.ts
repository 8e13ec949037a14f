import { type TSchema, Type } from 'typebox'
import { orNull } from '../../own-schemas.ts'
import type { Area } from '../app.ts'

/** The JSON body of a failed request, by area; error-format.ts makes them. */
export const errorSchemas = {
  generic: Type.Object(
    {
      error: Type.Object({
        code: Type.String({ description: 'Stable code of the error, such as VALIDATION_ERROR.' }),
        message: Type.String({ description: 'The problem and how to fix it.' }),
        details: Type.Record(Type.String(), Type.Unknown(), {
          description: '`field` and `issue` if one field caused the error.',
        }),
      }),
    },
    { title: 'Error' },
  ),
  chat: Type.Object(
    {
      error: Type.String({ description: 'The problem and how to fix it.' }),
      code: Type.String({ description: 'Stable code of the error, such as CONVERSATION_LOCKED.' }),
      details: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description:
            'Of CONVERSATION_WAITING: `turn_id`, `approval_id` or `session_id`, `tool`, `why` and `until`.',
        }),
      ),
    },
    { title: 'ChatError' },
  ),
  payments: Type.Object(
    {
      error: Type.String({ description: 'The problem and how to fix it.' }),
      code: Type.Integer({ description: 'The HTTP status code.' }),
      details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    },
    { title: 'PaymentError' },
  ),
  openai: Type.Object(
    {
      error: Type.Object({
        message: Type.String({ description: 'The problem and how to fix it.' }),
        type: Type.String(),
        param: orNull(Type.String({ description: 'The field that caused the error.' })),
        code: Type.String({ description: 'Stable code of the error, such as `model_not_found`.' }),
      }),
    },
    { title: 'OpenAiError' },
  ),
} as const satisfies Record<Area, TSchema>

/** The body for an unpaid call that is for sale, in every area: the data for buyers (x402, version 1). */
export const paymentRequiredSchema = Type.Object(
  {
    error: Type.String({ description: 'The problem and how to fix it.' }),
    code: Type.Integer({ description: 'The HTTP status code.' }),
    x402Version: Type.Integer(),
    accepts: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  },
  { title: 'PaymentRequired' },
)
