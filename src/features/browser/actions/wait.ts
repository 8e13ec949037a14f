import { Type } from 'typebox'
import { defineAction, selectorField } from './action.ts'

export const wait = defineAction({
  fields: {
    selector: selectorField,
    state: Type.Optional(
      Type.Enum(['attached', 'detached', 'visible', 'hidden'], { description: 'Default: `visible`.' }),
    ),
  },
  waitsFor: ({ selector, state = 'visible' }) => `${selector} to be ${state}`,
  async run({ locate, timeout }, { selector, state = 'visible' }) {
    await (await locate(selector)).waitFor({ state: state as 'visible', timeout })
    return undefined
  },
})
