import type { Locator } from 'playwright-core'
import { Type } from 'typebox'
import { AppError } from '#platform/errors.ts'
import { read } from '../in-page/read.ts'
import { defineAction, selectorField } from './action.ts'

/** Max options that an error names. */
const maxShown = 30
/** Max time in which a responsive page answers (ms). */
const answersWithinMs = 150

const option = Type.String({ maxLength: 1000 })

/** Chooses options by their value or their text. */
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
    const field = await locate(selector)
    const choosing = field.selectOption(value ?? values, { timeout })
    return { values: await choosing.catch(error => optionsInstead(error, field, [value ?? values].flat())) }
  },
})

/** @throws the original error, or ACTION_TIMEOUT with the available options */
async function optionsInstead(error: Error, field: Locator, wanted: readonly string[]): Promise<never> {
  const options = await read(field, 'options', maxShown, answersWithinMs).catch(() => [])
  if (error.name !== 'TimeoutError' || !/did not find some options/.test(error.message)) throw error
  const shown = options.join(', ') || 'none'
  throw new AppError('ACTION_TIMEOUT', `There is no option ${wanted.join(', ')}. The options are: ${shown}.`)
}
