import { Type } from 'typebox'
import { defineAction, selectorField } from './action.ts'
import { currentValue } from './in-page.ts'

const mostCharacters = 1_000_000

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
    const element = await locate(selector)
    const readers = new Map<string, () => Promise<string | null>>([
      ['text', async () => (await element.innerText({ timeout })).trim()],
      ['html', () => element.innerHTML({ timeout })],
      ['value', () => element.evaluate(currentValue, undefined, { timeout })],
    ])
    const value = await (readers.get(attribute)?.() ?? element.getAttribute(attribute, { timeout }))
    const isCut = (value?.length ?? 0) > mostCharacters
    return { value: value?.slice(0, mostCharacters) ?? null, ...(isCut && { truncated: true }) }
  },
})
