import { defineAction, selectorField } from './action.ts'

export const click = defineAction({
  fields: { selector: selectorField },
  mayNavigate: true,
  waitsFor: ({ selector }) => `${selector} to be visible, enabled and not covered`,
  async run({ locate, timeout }, { selector }) {
    await (await locate(selector)).click({ timeout })
    return undefined
  },
})
