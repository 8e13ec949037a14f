import type { Part } from './digest.ts'

/** @throws Error that names each part whose copy differs from the source. */
export function requireSameParts(source: readonly Part[], copy: readonly Part[]): void {
  const copies = new Map(copy.map(part => [part.name, part]))
  const names = new Set(source.map(({ name }) => name))
  const differences = [
    ...source.filter(part => !isSame(part, copies.get(part.name))).map(part => difference(part, copies)),
    ...copy.filter(({ name }) => !names.has(name)).map(({ name }) => `table ${name} is not in the source`),
  ]
  if (differences.length > 0)
    throw new Error(`the copy is not the same as its source: ${differences.join('; ')}`)
}

function isSame(one: Part, other: Part | undefined): boolean {
  return other !== undefined && one.rows === other.rows && one.sha256 === other.sha256
}

function difference(part: Part, copies: ReadonlyMap<string, Part>): string {
  const copy = copies.get(part.name)
  return `table ${part.name} has ${inWords(part)} in the source and ${copy ? inWords(copy) : 'is missing'} in the copy`
}

/** Describes a part to a person who compares two of them. */
export function inWords({ rows, sha256 }: Part): string {
  return `${rows} rows, SHA-256 ${sha256}`
}
