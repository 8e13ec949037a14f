/** The code that docs/add-a-feature.md shows is that of the feature it names. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = new URL('../../', import.meta.url).pathname
const text = readFileSync(join(root, 'docs/add-a-feature.md'), 'utf8')
const feature = globSync('src/features/access/*.ts', { cwd: root })
  .map(path => readFileSync(join(root, path), 'utf8'))
  .join('\n')

/** The blocks of TypeScript, without the marks of what they leave out. */
const blocks = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code.split('…'))

it('shows code that is there', () => {
  expect(blocks.length).toBeGreaterThan(4)
  const missing = blocks.flat().filter(piece => !feature.includes(piece.trim()))
  expect(missing).toEqual([])
})
