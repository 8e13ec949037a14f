import { Type } from 'typebox'
import { defineAction } from './action.ts'

export const press = defineAction({
  fields: {
    key: Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'The name of a key, such as Enter, a or Control+A. The focused element receives it.',
    }),
  },
  mayNavigate: true,
  waitsFor: ({ key }) => `the page to take the key ${key}`,
  async run({ page, useClipboard }, { key }) {
    const [name = '', ...held] = key.split('+').reverse()
    if (held.length > 0) await useClipboard(name)
    await page.keyboard.press(key)
    return undefined
  },
})
