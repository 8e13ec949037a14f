/**
 * A document's patterns are run on text written by models. Only patterns that clearly take linear time at most are kept:
 * nothing that repeats without a limit may be nested or follow another such part.
 */
const maxPatternLength = 256
const maxWays = 1000
const highestCount = 1000

export function isSafePattern(pattern: string): boolean {
  if (pattern.length > maxPatternLength || !compiles(pattern)) return false
  const plain = withoutLiterals(pattern)
  // Back references and look-around groups.
  if (/\\[k\d]/.test(plain) || /\(\?(?!:)/.test(plain)) return false
  if ([...plain.matchAll(/\d+/g)].some(([count]) => Number(count) > highestCount)) return false
  if (repeatsGroup(plain)) return false
  const counts = [...plain.matchAll(/[*+]|\{\d+(?:,(?:\d+)?)?\}|(?<!\()\?/g)].map(([quantifier]) =>
    waysOf(quantifier),
  )
  const unbounded = counts.filter(ways => ways === Number.POSITIVE_INFINITY).length
  const bounded = counts.filter(Number.isFinite).reduce((product, ways) => product * ways, 1)
  const isAnchored = plain.startsWith('^') && !plain.includes('|')
  return unbounded <= (isAnchored ? 1 : 0) && bounded <= maxWays
}

function compiles(pattern: string): boolean {
  try {
    // Ajv compiles patterns the same way.
    new RegExp(pattern, 'u')
    return true
  } catch {
    return false
  }
}

/** Replaces classes and escapes by a letter, so that every remaining character has its special meaning. */
function withoutLiterals(pattern: string): string {
  return pattern.replace(/\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|[^k\d])/g, 'a').replace(/\[[^\]]*\]/g, 'a')
}

/** True if a group that can match in several ways is repeated. */
function repeatsGroup(plain: string): boolean {
  let rest = plain
  for (;;) {
    const group = /\((?:\?:)?([^()]*)\)([*+?]|\{\d+(?:,\d*)?\})?/.exec(rest)
    if (group === null) return false
    const [whole, inside = '', quantifier] = group
    const isRepeated = quantifier !== undefined && quantifier !== '?'
    if (isRepeated && /[*+?|{]/.test(inside)) return true
    // The inside remains visible to the enclosing group.
    rest =
      rest.slice(0, group.index) + (isRepeated ? 'a{2}' : inside) + rest.slice(group.index + whole.length)
  }
}

function waysOf(quantifier: string): number {
  if (quantifier === '?') return 2
  const [, least = '0', comma, most = ''] = /^\{(\d+)(,)?(\d*)\}$/.exec(quantifier) ?? []
  if (quantifier === '*' || quantifier === '+' || (comma !== undefined && most === '')) {
    return Number.POSITIVE_INFINITY
  }
  return comma === undefined ? 1 : Math.max(1, Number(most) - Number(least) + 1)
}
