import { invalid } from '#platform/errors.ts'
import { requireHeaderValue } from '#platform/outbound/header-rules.ts'
import { encodeValue } from '#platform/outbound/percent-encoding.ts'
import type { Credentials, SecurityScheme } from './http-configuration.ts'
import type { Pair } from './serialize-argument.ts'

type Credential = Credentials[string]

/** The parts that credentials add to a request. */
export interface AppliedCredentials {
  headers: Pair[]
  /** Percent-encoded pairs. */
  query: Pair[]
  cookies: Pair[]
  secretHeaders: string[]
  secretQuery: string[]
  missing: string[]
}

/** Uses the first alternative whose credentials are all set, else one that needs none; otherwise returns the missing ones. */
export function applyCredentials(
  alternatives: readonly (readonly SecurityScheme[])[],
  credentials: Credentials,
): AppliedCredentials {
  const applied: AppliedCredentials = {
    headers: [],
    query: [],
    cookies: [],
    secretHeaders: [],
    secretQuery: [],
    missing: [],
  }
  const isSet = ({ scheme }: SecurityScheme) => Object.hasOwn(credentials, scheme)
  const needing = alternatives.filter(schemes => schemes.length > 0)
  const chosen = needing.find(schemes => schemes.every(isSet))
  if (chosen === undefined) {
    const isOptional = needing.length < alternatives.length
    const first = isOptional ? [] : (needing[0] ?? [])
    applied.missing = first.filter(scheme => !isSet(scheme)).map(({ scheme }) => scheme)
    return applied
  }
  for (const scheme of chosen) {
    const credential = credentials[scheme.scheme]
    if (credential !== undefined) apply(applied, scheme, credential)
  }
  return applied
}

function apply(applied: AppliedCredentials, scheme: SecurityScheme, credential: Credential): void {
  const field = `credential ${scheme.scheme}`
  if (scheme.type !== 'apiKey') {
    const value = scheme.type === 'basic' ? basicValue(field, credential) : bearerValue(field, credential)
    applied.headers.push(['authorization', value])
    applied.secretHeaders.push('authorization')
    return
  }
  const key = requireText(field, credential)
  const name = scheme.name ?? ''
  if (scheme.in === 'query') {
    applied.query.push([encodeValue(name), encodeValue(key)])
    applied.secretQuery.push(name)
  } else if (scheme.in === 'cookie') {
    applied.cookies.push([encodeValue(name), encodeValue(key)])
    applied.secretHeaders.push('cookie')
  } else {
    applied.headers.push([name.toLowerCase(), requireHeaderValue(field, key)])
    applied.secretHeaders.push(name.toLowerCase())
  }
}

function bearerValue(field: string, credential: Credential): string {
  const token = requireHeaderValue(field, requireText(field, credential))
  return `Bearer ${token.replace(/^bearer +/i, '')}`
}

function basicValue(field: string, credential: Credential): string {
  if (typeof credential !== 'string' && credential.username.includes(':')) {
    throw invalid(field, 'its user name must not hold a colon')
  }
  const pair = typeof credential === 'string' ? credential : `${credential.username}:${credential.password}`
  if (!pair.includes(':')) throw invalid(field, 'must be a user name and a password, as in name:password')
  return `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`
}

function requireText(field: string, credential: Credential): string {
  if (typeof credential === 'string') return credential
  throw invalid(field, 'must be a text: a token or a key')
}
