/**
 * Matches glob patterns in time that grows with pattern times text because patterns are foreign: each
 * character of the text advances a set of places in the pattern, and no match is tried twice. `*` and `?`
 * stop at a slash, `**` does not, `[a-z]` and `[!a-z]` are one character, `{a,b}` is one of several; `\`
 * makes the next character literal. Unclosed brackets are literal, too.
 */

type Token =
  /** Exactly one character. */
  | { kind: 'one'; matches: (character: string) => boolean }
  /** Any number of characters. */
  | { kind: 'many'; matches: (character: string) => boolean }
  /** The following `length` tokens are optional. */
  | { kind: 'optional'; length: number }

export type Glob = (text: string) => boolean

/** Max alternatives by the braces of a pattern. */
const maxAlternatives = 64

/** A final slash that is not the whole pattern, and not escaped. */
const endSlash = /(?<=[^\\])\/$/

/** Compiles a pattern. @throws RangeError if its braces have too many alternatives. */
export function compileGlob(pattern: string): Glob {
  const alternatives = expandBraces(pattern).map(alternative => tokensOf(alternative.replace(endSlash, '')))
  const matches = (text: string) => alternatives.some(tokens => matchesTokens(tokens, text))
  // A folder matches with or without its slash, in the pattern and in the text.
  return text => matches(text) || (text.endsWith('/') && matches(text.slice(0, -1)))
}

function matchesTokens(tokens: readonly Token[], text: string): boolean {
  let places = withoutNeed(tokens, new Set([0]))
  for (const character of text) {
    const next = new Set<number>()
    for (const place of places) {
      const token = tokens[place]
      if (token === undefined || token.kind === 'optional' || !token.matches(character)) continue
      next.add(token.kind === 'many' ? place : place + 1)
    }
    if (next.size === 0) return false
    places = withoutNeed(tokens, next)
  }
  return places.has(tokens.length)
}

/** Adds the places that are reachable from these without another character. */
function withoutNeed(tokens: readonly Token[], places: Set<number>): Set<number> {
  // A set that grows during its iteration is iterated to its end.
  for (const place of places) {
    const token = tokens[place]
    if (token === undefined || token.kind === 'one') continue
    places.add(place + 1)
    if (token.kind === 'optional') places.add(place + 1 + token.length)
  }
  return places
}

const inSegment = (character: string) => character !== '/'
const inName: Token = { kind: 'one', matches: inSegment }
const restOfName: Token = { kind: 'many', matches: inSegment }
const anywhere: Token = { kind: 'many', matches: () => true }

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < pattern.length; ) {
    const rest = pattern.slice(at)
    const { found, length } = nextTokens(rest, pattern[at - 1])
    tokens.push(...found)
    at += length
  }
  return tokens
}

function nextTokens(rest: string, before: string | undefined): { found: Token[]; length: number } {
  // `/a/**` also matches `/a`, and `/a/**/b` also `/a/b`.
  if (rest === '/**') return { found: [{ kind: 'optional', length: 2 }, literal('/'), anywhere], length: 3 }
  if ((before ?? '/') === '/' && rest.startsWith('**/'))
    return { found: [{ kind: 'optional', length: 2 }, anywhere, literal('/')], length: 3 }
  // A path in a folder has a name: `/a/*` does not match `/a/`.
  if (before === '/' && /^\*(?:\/|$)/.test(rest)) return { found: [inName, restOfName], length: 1 }
  const stars = /^\*+/.exec(rest)?.[0].length ?? 0
  if (stars > 0) return { found: [stars === 1 ? restOfName : anywhere], length: stars }
  if (rest.startsWith('?')) return { found: [inName], length: 1 }
  const set = /^\[([!^]?)(\]?[^\]]*)\]/.exec(rest)
  if (set?.[2]) return { found: [characterSet(set[2], set[1] !== '')], length: set[0].length }
  const [first = '', second] = rest
  if (first === '\\' && second !== undefined)
    return { found: [literal(second)], length: first.length + second.length }
  return { found: [literal(first)], length: first.length }
}

function literal(expected: string): Token {
  return { kind: 'one', matches: character => character === expected }
}

function characterSet(content: string, isNegated: boolean): Token {
  const ranges = [...content.matchAll(/(.)-(.)|(.)/gsu)].map(([, from, to, single]) => ({
    from: from ?? single ?? '',
    to: to ?? single ?? '',
  }))
  const holds = (character: string) => ranges.some(({ from, to }) => from <= character && character <= to)
  return { kind: 'one', matches: character => character !== '/' && holds(character) !== isNegated }
}

/** Returns the alternatives of a pattern with braces, including nested ones. */
function expandBraces(pattern: string): string[] {
  const done: string[] = []
  const open = [pattern]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const group = innermostBraces.exec(next)
    if (group === null) done.push(next)
    else
      for (const choice of (group[1] ?? '').split(',').toReversed())
        open.push(next.slice(0, group.index) + choice + next.slice(group.index + group[0].length))
    if (done.length + open.length > maxAlternatives)
      throw new RangeError(`its braces stand for more than ${maxAlternatives} patterns`)
  }
  return done
}

const innermostBraces = /\{([^{},]*(?:,[^{},]*)+)\}/
