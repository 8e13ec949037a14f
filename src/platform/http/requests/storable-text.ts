/**
 * Refuses text from callers that a database could not hold: PostgreSQL has no U+0000, and no encoding has half a surrogate
 * pair. In the text that arrived both can only be escaped, so values are walked only in the few requests that contain such
 * an escape.
 */
import type { FastifyRequest } from 'fastify'
import { invalid } from '../../errors.ts'
import type { App } from '../app.ts'

const escapes = /\\u(?:0000|d[89a-f])/i
const longestField = 100

/** What is wrong with a text, in words for a person; undefined if every database can hold it. */
export function unstorable(text: string): string | undefined {
  if (text.includes('\0')) return 'must not hold the character U+0000'
  return text.isWellFormed()
    ? undefined
    : 'must not hold half of a character, a surrogate without its other half'
}

/** Throws VALIDATION_ERROR for the first text or name in a JSON value that can't be stored; `json` is what it was read from. */
export function requireStorableJson(json: string, value: unknown): void {
  if (escapes.test(json)) requireStorable(value, 'body')
}

/**
 * Refuses such text in paths and queries before anything is looked up by it. Access is decided earlier, so a caller without
 * access is told that, whatever the URL contains.
 */
export function refuseUnstorableAddresses(app: App): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    // Half a character can't be written there: the router and the query parser decode UTF-8 only.
    if (request.url.includes('%00') && !request.is404) requireStorableAddress(request)
    done(null, payload)
  })
}

function requireStorableAddress({ params, query }: FastifyRequest): void {
  requireStorable(params, 'path')
  requireStorable(query, 'query')
}

/** Not recursive, since a body may be nested more deeply than the stack is. */
function requireStorable(whole: unknown, nameOfWhole: string): void {
  const open: [path: string, value: unknown][] = [['', whole]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [path, value] = next
    const field = () => clip(path) || nameOfWhole
    if (typeof value === 'string') require(value, field)
    if (typeof value !== 'object' || value === null) continue
    for (const [name, inner] of Object.entries(value)) {
      require(name, field)
      open.push([path === '' ? name : `${path}.${name}`, inner])
    }
  }
}

function require(text: string, field: () => string): void {
  const issue = unstorable(text)
  if (issue !== undefined) throw invalid(field(), issue)
}

function clip(path: string): string {
  return path.length > longestField ? `${path.slice(0, longestField)}…` : path
}
