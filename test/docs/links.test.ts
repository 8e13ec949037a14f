/** Whatever the documents point to must be there. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = new URL('../../', import.meta.url).pathname
const documents = ['README.md', ...globSync('docs/**/*.md', { cwd: root })]

/** Targets of Markdown links within the repository, relative to the document. */
function linksOf(text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.replace(/#.*$/, ''))
    .filter(target => target !== '' && !/^\w+:/.test(target))
}

/** Paths in code spans that begin in a folder of the project; a placeholder such as `<name>` or `*` makes none. */
function pathsOf(text: string): string[] {
  return [...text.matchAll(/`((?:src|test|bench|docs|scripts)\/[\w./-]*)`/g)].map(([, path = '']) => path)
}

describe.each(documents)('%s', name => {
  const text = readFileSync(join(root, name), 'utf8')

  it('points to files that exist', () => {
    const links = linksOf(text).map(target => join(dirname(name), target))
    const missing = [...links, ...pathsOf(text)].filter(path => !existsSync(join(root, path)))
    expect(missing).toEqual([])
  })
})
