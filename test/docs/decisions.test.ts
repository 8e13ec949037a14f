/** Every record of a decision is short and can be found in the list of them. */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const folder = new URL('../../docs/decisions/', import.meta.url).pathname

it('docs/decisions/README.md links each record once', () => {
  const text = readFileSync(`${folder}README.md`, 'utf8')
  const linked = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target)
  expect(linked.toSorted()).toEqual(globSync('2*.md', { cwd: folder }).toSorted())
})

it.each(globSync('2*.md', { cwd: folder }))('%s has at most 150 words', file => {
  expect(readFileSync(`${folder}${file}`, 'utf8').split(/\s+/).length).toBeLessThanOrEqual(150)
})
