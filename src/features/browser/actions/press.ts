import { Type } from 'typebox'
import { defineAction } from './action.ts'

export const press = defineAction({
  fields: {
    key: Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'A key by its name, such as Enter, a or Control+A; it goes to what has the focus.',
    }),
  },
  mayNavigate: true,
  waitsFor: ({ key }) => `the page to take the key ${key}`,
  async run({ page }, { key }) {
    await page.keyboard.press(key)
    return undefined
  },
})
