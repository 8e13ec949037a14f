import { defineAction, selectorField } from './action.ts'

export const hover = defineAction({
  fields: { selector: selectorField },
  waitsFor: ({ selector }) => `${selector} to be visible and not covered`,
  async run({ locate, timeout }, { selector }) {
    await (await locate(selector)).hover({ timeout })
    return undefined
  },
})
