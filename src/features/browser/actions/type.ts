import type { Locator } from 'playwright-core'
import { Type } from 'typebox'
import { invalid } from '#platform/errors.ts'
import { read } from '../in-page/read.ts'
import { secretFields } from '../secrets/secret-fields.ts'
import { defineAction, selectorField } from './action.ts'
import { readingsFor } from './field-value.ts'

/** Replaces the content of a field. */
export const type = defineAction({
  fields: {
    selector: selectorField,
    text: Type.String({ maxLength: 100_000 }),
    submit: Type.Optional(Type.Boolean({ description: 'Press Enter in the field afterwards.' })),
    by_key: Type.Optional(
      Type.Boolean({ description: 'Type the text key by key, for pages that react to keys.' }),
    ),
  },
  mayNavigate: true,
  waitsFor: ({ selector }) => `${selector} to be a field that can be filled in`,
  async run({ page, locate, keepSecret, timeout }, { selector, text, submit, by_key: isByKey }) {
    const end = performance.now() + timeout
    const left = () => ({ timeout: Math.max(1, end - performance.now()) })
    const field = await locate(selector)
    if ((await field.and(page.locator(secretFields)).count()) > 0) keepSecret(text)
    const value = await valueFor(field, text, left().timeout)
    await field.fill(isByKey && value === undefined ? '' : (value ?? text), left())
    if (isByKey && value === undefined) await field.pressSequentially(text, left())
    if (submit) await field.press('Enter', left())
    return undefined
  },
})

/** Returns the value for a field of dates and the like, which takes only one form; undefined for others. */
async function valueFor(field: Locator, text: string, timeout: number): Promise<string | undefined> {
  const about = await read(field, 'field', undefined, timeout)
  if (about.type === 'color') {
    const value = await read(field.page(), 'colour', text.slice(0, 200), timeout)
    if (value === null) throw invalid('text', 'must be a colour, such as #1e90ff')
    return value
  }
  const readings = readingsFor(about, text)
  if (readings === undefined) return undefined
  const { values, isDecided, form } = readings
  const keptValues = await read(field, 'keeps', values, timeout)
  if (keptValues.length === 1 || (keptValues.length > 0 && isDecided)) return keptValues[0]
  const doubt = `may mean ${keptValues.join(' or ')}: write it as`
  throw invalid('text', `${keptValues.length > 1 ? doubt : 'must be'} ${form}`)
}
