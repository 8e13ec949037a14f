import { invalid } from '../errors.ts'

/** Headers that describe the connection or its body: no request can set them. */
const connectionHeaders = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Headers that hold no secret; every other header of a person can. */
const plainHeaders = new Set(['accept', 'accept-language', 'content-type', 'user-agent'])

export function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/.test(name)
}

export function isConnectionHeader(name: string): boolean {
  return connectionHeaders.has(name.toLowerCase())
}

export function mayHoldSecret(name: string): boolean {
  return !plainHeaders.has(name.toLowerCase())
}

/** Returns the problem of a header's value; undefined if it can be sent. */
export function headerValueProblem(value: string): string | undefined {
  if (/[\r\n]/.test(value)) return 'must not hold a line break, since it is sent in a header'
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) {
    return 'holds a character that headers have no place for; use letters of Latin-1 only'
  }
  return undefined
}

/** Returns the value without outer white space; throws VALIDATION_ERROR, which never repeats the value. */
export function requireHeaderValue(field: string, value: string): string {
  const problem = headerValueProblem(value)
  if (problem !== undefined) throw invalid(field, problem)
  return value.trim()
}
