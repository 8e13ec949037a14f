/** Holds the configuration table of README.md against what src/config.ts reads. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)
const readme = readFileSync(new URL('README.md', root), 'utf8')
const source = readFileSync(new URL('src/config.ts', root), 'utf8')

/** Variables and their defaults as the table tells them, in its order. */
function documented(): [name: string, value: string][] {
  return [...readme.matchAll(/^\| `([A-Z][A-Z_0-9]+)` \| (\S+) \| \S.* \|$/gm)].map(
    ([, name = '', value = '']) => [name, value.replaceAll('`', '')],
  )
}

/** The same as `environmentSchema` declares them: its source is read, since the schema itself is nobody else's business. */
function declared(): [name: string, value: string][] {
  const body = /const environmentSchema = Type\.Object\(\{\n(.*?)\n\}\)/s.exec(source)?.[1] ?? ''
  return body
    .split(/^ {2}(?=[A-Z])/m)
    .filter(part => part.trim() !== '')
    .map(part => [part.slice(0, part.indexOf(':')), defaultOf(part)])
}

/** The `default` of an option, the first argument of `whole` or the second one of `oneOf`. */
function defaultOf(declaration: string): string {
  const found =
    /default: '([^']*)'/.exec(declaration) ??
    /whole\(([\d_]+),/.exec(declaration) ??
    /oneOf\(.*, '([^']*)'\)/s.exec(declaration)
  return found?.[1]?.replaceAll('_', '') ?? 'unset'
}

it('README.md lists every variable that is read, and no other, with its default', () => {
  expect(declared().length).toBeGreaterThan(30)
  expect(documented()).toEqual(declared())
})
