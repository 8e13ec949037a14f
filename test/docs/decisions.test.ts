/** Every record of a decision can be found in the list of them. */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const folder = new URL('../../docs/decisions/', import.meta.url).pathname

it('docs/decisions/README.md links each record once', () => {
  const text = readFileSync(`${folder}README.md`, 'utf8')
  const linked = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target)
  expect(linked.toSorted()).toEqual(globSync('2*.md', { cwd: folder }).toSorted())
})
