/** Characters of a name that all model services take. */
const longest = 64

/**
 * Gives every tool a name that models take and that no other tool has. Earlier tools keep theirs, so that the service's own,
 * which come first, can't be shadowed.
 */
export function nameTools<Named extends { name: string }>(tools: readonly Named[]): Named[] {
  const taken = new Set<string>()
  return tools.map(tool => {
    const name = freeName(acceptableName(tool.name), taken)
    taken.add(name)
    return name === tool.name ? tool : { ...tool, name }
  })
}

/** Letters, digits, `_` and `-` alone. */
function acceptableName(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9_-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, longest)
  return plain === '' ? 'tool' : plain
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name
  for (let number = 2; ; number += 1) {
    const suffix = `_${number}`
    const candidate = name.slice(0, longest - suffix.length) + suffix
    if (!taken.has(candidate)) return candidate
  }
}
