/** Holds docs/dependencies.md against package.json. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }

const text = readFileSync(new URL('../../docs/dependencies.md', import.meta.url), 'utf8')

/** The packages that the lines below a heading begin with: `` - `name`: why ``. */
function listedUnder(heading: string): string[] {
  const section = text.split(/^## /m).find(part => part.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^- `([^`]+)`: \S/gm)].map(([, name = '']) => name)
}

it.each([
  ['What the service runs on', manifest.dependencies],
  ['What builds the console, and checks and tests everything', manifest.devDependencies],
])('"%s" has one line for each dependency, in their order', (heading, dependencies) => {
  expect(listedUnder(heading)).toEqual(Object.keys(dependencies))
})

it('nothing is a dependency that is said to be left out', () => {
  const leftOut = listedUnder('Left out on purpose')
  expect(leftOut.length).toBeGreaterThan(0)
  const present = { ...manifest.dependencies, ...manifest.devDependencies }
  expect(leftOut.filter(name => name in present)).toEqual([])
})
