import { type Static, Type } from 'typebox'
import { orNull } from '#platform/own-schemas.ts'

/*
 * Usage: the calls of models in the turns of an agent, by day (UTC), author and model. Author: who began the turn, a person, a
 * key, a channel, a schedule or a workflow; a key's usage is also that of the key's person.
 */

const day = (description: string) =>
  Type.Optional(Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$', format: 'date', description }))

export const usageQuerySchema = Type.Object({
  from: day('The first day (UTC), such as 2026-11-01. Default: the first of this month.'),
  to: day('The last day (UTC). Default: today.'),
  group: Type.Optional(
    Type.Enum(['day', 'model', 'person', 'key'], { default: 'day', description: 'What each row sums up.' }),
  ),
})
export type UsageQuery = Static<typeof usageQuerySchema>

const count = Type.Integer({ minimum: 0 })

const sums = {
  turns: count,
  calls: Type.Integer({
    description: 'Calls of models: a turn has one, and one more after each round of tools.',
  }),
  input_tokens: Type.Integer({ description: 'As reported, with those from a cache.' }),
  cached_input_tokens: count,
  output_tokens: count,
  estimated_tokens: Type.Integer({
    description: 'Of calls whose service reported none, at four characters per token.',
  }),
  cost: Type.String({ description: 'US dollars, such as 0.0125, of the calls whose price is known.' }),
  unpriced_calls: Type.Integer({ description: 'Calls whose price is not known.' }),
}

const usageSumSchema = Type.Object(sums, { title: 'UsageSum' })

const usageRowSchema = Type.Object(
  {
    day: Type.Optional(Type.String()),
    model: Type.Optional(Type.String()),
    person: Type.Optional(orNull(Type.String({ description: 'E-mail address; null for turns of nobody.' }))),
    key: Type.Optional(
      orNull(Type.String({ description: 'Id of the API key; null for turns without one.' })),
    ),
    ...sums,
  },
  { title: 'UsageRow' },
)

export const usageSchema = Type.Object(
  {
    from: Type.String(),
    to: Type.String(),
    usage: Type.Array(usageRowSchema, { description: 'One for each day, model, person or key.' }),
    total: usageSumSchema,
  },
  { title: 'Usage' },
)
export type Usage = Static<typeof usageSchema>
