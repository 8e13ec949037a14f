/** Max nesting depth of servers' descriptions. */
const deepest = 64

/**
 * Returns the same text for equal values with names in any order; undefined for a value that is nested too
 * deeply. Like JSON, it omits values that JSON lacks.
 */
export function canonicalJson(value: unknown, depth = 0): string | undefined {
  if (depth > deepest) return undefined
  if (Array.isArray(value)) {
    const entries = value.map(entry => canonicalJson(entry ?? null, depth + 1))
    return entries.includes(undefined) ? undefined : `[${entries.join(',')}]`
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields: string[] = []
  for (const name of Object.keys(value).sort()) {
    const inner: unknown = Reflect.get(value, name)
    if (inner === undefined) continue
    const text = canonicalJson(inner, depth + 1)
    if (text === undefined) return undefined
    fields.push(`${JSON.stringify(name)}:${text}`)
  }
  return `{${fields.join(',')}}`
}
