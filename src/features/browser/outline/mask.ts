export const hiddenValue = '********'

/** Shorter values than this stand in too many words to be replaced within them. */
const distinctive = 4

/** Replaces these values wherever they stand, also as addresses write them. */
export function createMask(values: Iterable<string>): (text: string) => string {
  const all = [...new Set([...values].flatMap(spellings))].toSorted((one, other) => other.length - one.length)
  if (all.length === 0) return text => text
  const patterns = all.map(value => {
    const literal = RegExp.escape(value)
    return value.length < distinctive ? `(?<![\\w])${literal}(?![\\w])` : literal
  })
  const pattern = new RegExp(patterns.join('|'), 'g')
  return text => text.replace(pattern, hiddenValue)
}

function spellings(value: string): string[] {
  if (value.trim() === '') return []
  const encoded = encodeURIComponent(value.toWellFormed())
  return [value, encoded, encoded.replaceAll('%20', '+'), JSON.stringify(value).slice(1, -1)]
}

/** Every text within the value, keys included, masked. */
export function maskWithin(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value)
  if (Array.isArray(value)) return value.map(inner => maskWithin(inner, mask))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [mask(name), maskWithin(inner, mask)]),
  )
}
