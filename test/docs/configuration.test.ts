/** Holds the configuration table of README.md against what src/config.ts reads. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { declaredVariables } from '../support/declared-variables.ts'

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

/** Variables and their defaults as the table tells them, in its order. */
function documented(): [name: string, value: string][] {
  return [...readme.matchAll(/^\| `([A-Z][A-Z_0-9]+)` \| (\S+) \| \S.* \|$/gm)].map(
    ([, name = '', value = '']) => [name, value.replaceAll('`', '')],
  )
}

it('README.md lists every variable that is read, and no other, with its default', () => {
  expect(declaredVariables().length).toBeGreaterThan(30)
  expect(documented()).toEqual(declaredVariables())
})
