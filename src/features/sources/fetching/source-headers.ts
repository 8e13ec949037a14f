import { invalid } from '#platform/errors.ts'
import {
  headerValueProblem,
  isConnectionHeader,
  isHeaderName,
  mayHoldSecret,
} from '#platform/outbound/header-rules.ts'

/*
 * Headers that an API source sends. Its row shows them with masks; those that may be secret are sealed in the platform database,
 * together with the origin that they were given for.
 */

const mask = '********'
const secretName = 'headers'

type Headers = Record<string, string>

/** @throws VALIDATION_ERROR for what can't be sent; no value is repeated. */
export function requireHeaders(headers: Headers): void {
  const names = Object.keys(headers)
  for (const name of names) {
    if (!isHeaderName(name)) throw invalid('headers', `holds a name that is not valid: ${shown(name)}`)
    if (isConnectionHeader(name))
      throw invalid('headers', `must not set ${name}, which belongs to the connection`)
    const problem = headerValueProblem(headers[name] ?? '')
    if (problem !== undefined) throw invalid(`headers.${name}`, problem)
    if (headers[name]?.startsWith(mask))
      throw invalid(`headers.${name}`, 'is a mask, and no value; enter the value itself')
  }
  if (new Set(names.map(name => name.toLowerCase())).size < names.length)
    throw invalid('headers', 'names a header twice; upper and lower case make no difference')
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 40))
}

/** As they are stored and shown. */
export function maskedHeaders(headers: Headers): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, mayHoldSecret(name) ? mask : value]),
  )
}

/** The values to be sealed; nothing for headers without secrets. */
export function sealedPart(url: string, headers: Headers): Record<string, string> {
  const secrets = Object.entries(headers).filter(([name]) => mayHoldSecret(name))
  if (secrets.length === 0) return {}
  const bound = { origin: new URL(url).origin, headers: Object.fromEntries(secrets) }
  return { [secretName]: JSON.stringify(bound) }
}

/** The headers as they are to be sent; undefined if what was sealed is gone, or was given for another server. */
export function openHeaders(
  url: string,
  masked: Headers,
  sealed: Readonly<Record<string, string>>,
): { headers: Headers; secretHeaders: string[]; secrets: string[] } | undefined {
  const secretHeaders = Object.keys(masked).filter(mayHoldSecret)
  if (secretHeaders.length === 0) return { headers: masked, secretHeaders, secrets: [] }
  const text = sealed[secretName]
  if (text === undefined) return undefined
  const bound: { origin: string; headers: Headers } = JSON.parse(text)
  const isWhole = secretHeaders.every(name => Object.hasOwn(bound.headers, name))
  if (bound.origin !== new URL(url).origin || !isWhole) return undefined
  return { headers: { ...masked, ...bound.headers }, secretHeaders, secrets: Object.values(bound.headers) }
}
