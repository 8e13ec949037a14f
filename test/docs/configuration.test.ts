/** Holds the table of variables in the documents against those that the service reads. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { declaredVariables } from '../support/declared-variables.ts'

/** Variables and their defaults as the tables of a document give them, in their order. */
function documented(file: string): [name: string, value: string][] {
  const document = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  return [...document.matchAll(/^\| `([A-Z][A-Z_0-9]+)` \| (\S+) \| \S.* \|$/gm)].map(
    ([, name = '', value = '']) => [name, value.replaceAll('`', '')],
  )
}

it('docs/configuration.md lists every variable that is read, and no other, with its default', () => {
  expect(declaredVariables().length).toBeGreaterThan(30)
  expect(documented('docs/configuration.md')).toEqual(declaredVariables())
})
