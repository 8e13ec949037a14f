import { Script } from 'node:vm'
import { Type } from 'typebox'
import { AppError, invalid } from '#platform/errors.ts'
import { isDeeperThan, maxLevels } from '#platform/json-depth.ts'
import { defineAction, maxValue } from './action.ts'

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
  async run({ cdp }, { expression }) {
    // The browser itself compiles the script, without functions of the page.
    const script = `(${boundedValue})(() => (0, eval)(${JSON.stringify(expression)}), ${maxValue})`
    const { result } = await cdp.send('Runtime.evaluate', {
      expression: script,
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
    })
    const answer = String(result.value)
    const [kind, text] = [answer[0], answer.slice(1)]
    if (kind === 'e') throw new AppError('BROWSER_FAILED', `In the page: ${text}`)
    if (kind === 'l')
      throw invalid(
        'expression',
        `gives more than ${maxValue} bytes as JSON; let it give less, or a text, which is cut`,
      )
    if (kind === 't' || kind === 'c') return { value: text, ...(kind === 'c' && { truncated: true }) }
    if (kind !== 'j') return { value: null }
    if (isDeeperThan(maxLevels, text))
      throw invalid('expression', `gives JSON of more than ${maxLevels} levels; let it give fewer, or a text`)
    return { value: JSON.parse(text) }
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

/**
 * Runs among the page's scripts, which can replace any function that is called here: only a text of limited
 * length leaves, because its type and length can't be forged. Its first letter is its kind: a text (t), a cut
 * text (c), JSON (j), nothing (n), too large (l), an error (e).
 */
async function boundedValue(run: () => unknown, bytes: number): Promise<string> {
  const text = (kind: string, value: unknown) =>
    typeof value === 'string' && value.length <= bytes ? kind + value : 'l'
  const fitting = (value: string) => new TextEncoder().encodeInto(value, new Uint8Array(bytes)).read
  try {
    const value = await run()
    if (typeof value === 'string') {
      const length = fitting(value)
      return length < value.length ? text('c', value.slice(0, length)) : text('t', value)
    }
    const json = JSON.stringify(value, (_name, inner) => (typeof inner === 'bigint' ? String(inner) : inner))
    if (json === undefined) return 'n'
    return fitting(json) < json.length ? 'l' : text('j', json)
  } catch (error) {
    try {
      return text('e', `${error}`.slice(0, 500))
    } catch {
      return 'e'
    }
  }
}
