import { Type } from 'typebox'
import { orNull } from '../own-schemas.ts'

export const maxTokens = 1_000_000_000_000
export const dollarsForm = '^\\d{1,6}(\\.\\d{1,6})?$'

/** The budget for models in a month; null for no limit. */
export const monthlyBudget = {
  monthly_tokens: Type.Optional(
    orNull(
      Type.Integer({
        minimum: 1,
        maximum: maxTokens,
        description: 'Tokens that may be used in a calendar month (UTC).',
      }),
    ),
  ),
  monthly_usd: Type.Optional(
    orNull(
      Type.String({
        pattern: dollarsForm,
        description: 'US dollars that may be spent in a calendar month (UTC), such as 12.50.',
      }),
    ),
  ),
}
