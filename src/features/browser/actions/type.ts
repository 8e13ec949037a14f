import { Type } from 'typebox'
import { secretFields } from '../secrets/secret-fields.ts'
import { defineAction, selectorField } from './action.ts'

/** Replaces what stands in a field. */
export const type = defineAction({
  fields: { selector: selectorField, text: Type.String({ maxLength: 100_000 }) },
  mayNavigate: true,
  waitsFor: ({ selector }) => `${selector} to be a field that can be filled in`,
  async run({ page, locate, keepSecret, timeout }, { selector, text }) {
    const field = await locate(selector)
    if ((await field.and(page.locator(secretFields)).count()) > 0) keepSecret(text)
    await field.fill(text, { timeout })
    return undefined
  },
})
