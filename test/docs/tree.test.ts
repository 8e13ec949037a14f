/** Holds docs/architecture.md, and the tree in it, against the folders of the project. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = new URL('../../', import.meta.url).pathname
const text = readFileSync(join(root, 'docs/architecture.md'), 'utf8')

/** Paths of the lines, each of which begins with one name or several; indented names stand in the last folder above them. */
function drawn(): string[] {
  const tree = /## The tree\n\n```\n(.*?)```/s.exec(text)?.[1] ?? ''
  let folder = ''
  return tree.split('\n').flatMap(line => {
    const [, indent = '', names = ''] = /^( *)(\S+(?: \S+)*) {2,}\S/.exec(line) ?? []
    if (indent === '') folder = names
    return names
      .split(' ')
      .filter(name => name !== '')
      .map(name => (indent === '' ? name : folder + name))
  })
}

it('shows nothing that is not there, and nothing twice', () => {
  const paths = drawn()
  expect(paths.length).toBeGreaterThan(30)
  expect(paths.filter(path => !existsSync(join(root, path)))).toEqual([])
  expect(paths).toEqual([...new Set(paths)])
})

it('shows every layer, and every folder in it', () => {
  const folders = globSync(['src/*/', 'src/*/*/', 'src/features/*/'], { cwd: root, withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(entry => `${join(entry.parentPath, entry.name).slice(root.length)}/`)
  const missing = folders.filter(folder => !drawn().includes(folder))
  expect(missing).toEqual([])
})

it('can be read at a sitting: details are in the READMEs of folders', () => {
  expect(text.split(/\s+/).length).toBeLessThanOrEqual(2500)
})
