import { Script } from 'node:vm'
import { Type } from 'typebox'
import { invalid } from '#platform/errors.ts'
import { defineAction } from './action.ts'
import { toJson } from './in-page.ts'

const mostCharacters = 1_000_000

export const evaluate = defineAction({
  fields: {
    expression: Type.String({
      minLength: 1,
      maxLength: 100_000,
      pattern: '\\S',
      description:
        'JavaScript that runs in the page. Its value, or that of its promise, is returned as JSON.',
    }),
  },
  mayNavigate: true,
  check({ expression }) {
    const problem = syntaxProblem(expression)
    return problem === undefined ? undefined : { field: 'expression', issue: `is not JavaScript: ${problem}` }
  },
  waitsFor: () => 'the value of the expression',
  async run({ page }, { expression }) {
    const handle = await page.evaluateHandle(expression)
    const text = await handle.evaluate(toJson, mostCharacters)
    await handle.dispose()
    if (text === null)
      throw invalid('expression', `gives more than ${mostCharacters} characters as JSON; let it give less`)
    return { value: text === undefined ? null : JSON.parse(text) }
  },
})

/** Compiles without running. */
function syntaxProblem(expression: string): string | undefined {
  try {
    new Script(expression)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
