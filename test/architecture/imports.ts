/** The imports between the files of `src`, read from their text: types count like all others. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }

export interface Import {
  from: string
  /** A file of `src`. */
  to: string
}

/** Imports, dynamic ones and files that threads are started from among them. */
const specifier = /(?:\bfrom |\bimport |\bimport\(|new URL\()'([.#][^']+\.m?ts)'/g

/** All imports of source files, without those of tests. Paths begin with `src/`. */
export function readImports(): Import[] {
  const files = globSync('src/**/*.ts', { exclude: ['src/**/*.test.ts'] })
  return files.flatMap(from =>
    [...readFileSync(from, 'utf8').matchAll(specifier)].map(([, name = '']) => ({
      from,
      to: resolve(from, name),
    })),
  )
}

function resolve(from: string, name: string): string {
  if (name.startsWith('.')) return join(dirname(from), name)
  const [alias, folder] =
    Object.entries(manifest.imports).find(([key]) => name.startsWith(key.slice(0, -1))) ?? []
  if (alias === undefined || folder === undefined)
    throw new Error(`${from} imports ${name}, which is nowhere.`)
  return normalize(folder.slice(0, -1) + name.slice(alias.length - 1))
}

/** Circles of files, each as the path around it; empty if there are none. */
export function findCircles(imports: readonly Import[]): string[][] {
  const targets = Map.groupBy(imports, ({ from }) => from)
  const done = new Set<string>()
  const circles: string[][] = []
  function visit(file: string, path: readonly string[]): void {
    const start = path.indexOf(file)
    if (start >= 0) circles.push([...path.slice(start), file])
    if (start >= 0 || done.has(file)) return
    for (const { to } of targets.get(file) ?? []) visit(to, [...path, file])
    done.add(file)
  }
  for (const file of targets.keys()) visit(file, [])
  return circles
}
