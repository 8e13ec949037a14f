import { Type } from 'typebox'
import { defineAction, selectorField } from './action.ts'

const option = Type.String({ maxLength: 1000 })

/** Options are chosen by their value or by what they say. */
export const select = defineAction({
  fields: {
    selector: selectorField,
    value: Type.Optional(option),
    values: Type.Optional(Type.Array(option, { maxItems: 1000 })),
  },
  mayNavigate: true,
  check: ({ value, values }) =>
    (value === undefined) === (values === undefined)
      ? { field: 'value', issue: 'or values is required, and only one of them' }
      : undefined,
  waitsFor: ({ selector, value, values }) =>
    `the options ${[value ?? values].flat().join(', ')} of ${selector}`,
  async run({ locate, timeout }, { selector, value, values = [] }) {
    return { values: await (await locate(selector)).selectOption(value ?? values, { timeout }) }
  },
})
