/**
 * Rejects text from callers that a database could not hold: PostgreSQL has no U+0000, and no encoding has half a surrogate
 * pair. In the text that arrived both can only be escaped, so values are walked only in the few requests that contain such
 * an escape.
 */
import type { FastifyRequest } from 'fastify'
import { invalid } from '../../errors.ts'
import type { App } from '../app.ts'

const escapes = /\\u(?:0000|d[89a-f])/i
const maxFieldLength = 100

/** Returns the problem of a text, in words for a person; undefined if every database can hold it. */
export function unstorable(text: string): string | undefined {
  if (text.includes('\0')) return 'must not hold the character U+0000'
  return text.isWellFormed()
    ? undefined
    : 'must not hold half of a character, a surrogate without its other half'
}

/** Throws VALIDATION_ERROR for the first text or name in a JSON value that can't be stored; `json` is its source. */
export function requireStorableJson(json: string, value: unknown): void {
  // Searching for any escape first takes a tenth of the time, and long texts have none.
  if (json.includes('\\u') && escapes.test(json)) requireStorable(value, 'body')
}

/**
 * Rejects such text in paths and queries before any lookup. Access is decided earlier, so a caller without
 * access gets the same refusal with any URL.
 */
export function refuseUnstorableAddresses(app: App): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    // Half a surrogate pair can't be in an address: the router and the query parser decode UTF-8 only.
    if (request.url.includes('%00') && !request.is404) requireStorableAddress(request)
    done(null, payload)
  })
}

function requireStorableAddress({ params, query }: FastifyRequest): void {
  requireStorable(params, 'path')
  requireStorable(query, 'query')
}

/** An object or list during the search. */
interface Level {
  /** Undefined for a list. */
  names: readonly string[] | undefined
  values: readonly unknown[]
  /** Number of checked names or items. */
  count: number
}

/** Throws VALIDATION_ERROR for the first text or name that can't be stored. Not recursive: a body can be nested too deeply. */
export function requireStorable(whole: unknown, nameOfWhole: string): void {
  const levels: Level[] = [{ names: undefined, values: [whole], count: 0 }]
  const fieldAt = (place: readonly Level[]) => clip(pathTo(place)) || nameOfWhole
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const { names, values } = level
    const name = names?.[level.count]
    const value = values[level.count]
    if (level.count === values.length) levels.pop()
    else {
      if (name !== undefined) require(name, () => fieldAt(levels.slice(0, -1)))
      level.count += 1
      if (typeof value === 'string') require(value, () => fieldAt(levels))
      else if (typeof value === 'object' && value !== null) levels.push(levelOf(value))
    }
  }
}

function levelOf(value: object): Level {
  if (Array.isArray(value)) return { names: undefined, values: value, count: 0 }
  return { names: Object.keys(value), values: Object.values(value), count: 0 }
}

function require(text: string, field: () => string): void {
  const issue = unstorable(text)
  if (issue !== undefined) throw invalid(field(), issue)
}

function clip(path: string): string {
  return path.length > maxFieldLength ? `${path.slice(0, maxFieldLength)}…` : path
}

/** Returns the current place, as a path of names from the whole. */
function pathTo(levels: readonly Level[]): string {
  return levels
    .slice(1)
    .map(({ names, count }) => names?.[count - 1] ?? count - 1)
    .join('.')
}
