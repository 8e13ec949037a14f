import { normalizedText } from '#platform/normalized-text.ts'

/** Max length of a name for all model services. */
const longest = 64

/**
 * Gives every tool a unique name that models accept and that is not in `others`. Earlier tools keep their
 * names, so the service's own tools, which come first, cannot be shadowed.
 */
export function nameTools<Named extends { name: string }>(
  tools: readonly Named[],
  others: ReadonlySet<string> = new Set(),
): Named[] {
  const usedNames = new Set(others)
  /** The last number per name, so that many tools of one name do not take quadratic time. */
  const numbers = new Map<string, number>()
  return tools.map(tool => {
    const acceptable = acceptableName(tool.name)
    let name = acceptable
    for (let number = (numbers.get(acceptable) ?? 1) + 1; usedNames.has(name); number += 1) {
      const suffix = `_${number}`
      name = acceptable.slice(0, longest - suffix.length) + suffix
      numbers.set(acceptable, number)
    }
    usedNames.add(name)
    return name === tool.name ? tool : { ...tool, name }
  })
}

/** Returns a name of letters, digits, `_` and `-` that begins with a letter or `_`. */
export function acceptableName(name: string): string {
  const plain = normalizedText(name, 'NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9_-]+/g, '_')
    .replace(/^[_-]+/, '')
    .replace(/^(?=\d)/, '_')
    .slice(0, longest)
    .replace(/_+$/, '')
  return plain === '' ? 'tool' : plain
}
