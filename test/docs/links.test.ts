/** Whatever the documents point to must be there: files, and headings in them. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = new URL('../../', import.meta.url).pathname
const documents = ['README.md', ...globSync('{docs,src}/**/*.md', { cwd: root })]

/** Markdown links within the repository: a file relative to the document, or the document itself, and a heading if any. */
function linksOf(text: string, name: string): { file: string; heading: string | undefined }[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter(target => !/^\w+:/.test(target))
    .map(target => {
      const [path = '', heading] = target.split('#')
      return { file: path === '' ? name : join(dirname(name), path), heading }
    })
}

/** Headings of a document, as links name them. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** Paths in code spans that begin in a folder of the project; a placeholder such as `<name>` or `*` makes none. */
function pathsOf(text: string): string[] {
  return [...text.matchAll(/`((?:src|test|bench|docs|scripts)\/[\w./-]*)`/g)].map(([, path = '']) => path)
}

describe.each(documents)('%s', name => {
  const text = readFileSync(join(root, name), 'utf8')

  it('points to files that exist', () => {
    const links = linksOf(text, name).map(({ file }) => file)
    const missing = [...links, ...pathsOf(text)].filter(path => !existsSync(join(root, path)))
    expect(missing).toEqual([])
  })

  it('points to headings that exist', () => {
    const missing = linksOf(text, name).filter(
      ({ file, heading }) =>
        heading !== undefined && !headingsOf(readFileSync(join(root, file), 'utf8')).includes(heading),
    )
    expect(missing).toEqual([])
  })
})
