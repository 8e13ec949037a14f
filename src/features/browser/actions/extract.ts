import { Type } from 'typebox'
import { read } from '../in-page/read.ts'
import { defineAction, maxValue, selectorField } from './action.ts'

export const extract = defineAction({
  fields: {
    selector: selectorField,
    attribute: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Name of the attribute to return, or `html` for the inner HTML. Default: the text.',
      }),
    ),
  },
  waitsFor: ({ selector }) => `${selector} to be there`,
  async run({ locate, timeout }, { selector, attribute = 'text' }) {
    const wanted = { attribute, bytes: maxValue }
    const { text: value, truncated } = await read(await locate(selector), 'text', wanted, timeout)
    return { value, ...(truncated && { truncated }) }
  },
})
