import { invalid } from '#platform/errors.ts'
import {
  headerValueProblem,
  isConnectionHeader,
  isHeaderName,
  mayHoldSecret,
} from '#platform/outbound/header-rules.ts'

/*
 * Headers of an API source. Its row shows them masked; possible secrets are sealed in the platform database,
 * with the origin that they are for.
 */

const mask = '********'
const secretName = 'headers'

type Headers = Record<string, string>

/** Checks headers. @throws VALIDATION_ERROR for invalid ones; it repeats no value. */
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

/** Returns the headers in the stored and visible form. */
export function maskedHeaders(headers: Headers): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, mayHoldSecret(name) ? mask : value]),
  )
}

/** Returns the values to seal; none for headers without secrets. */
export function sealedPart(url: string, headers: Headers): Record<string, string> {
  const secrets = Object.entries(headers).filter(([name]) => mayHoldSecret(name))
  if (secrets.length === 0) return {}
  const bound = { origin: new URL(url).origin, headers: Object.fromEntries(secrets) }
  return { [secretName]: JSON.stringify(bound) }
}

/** Returns the headers to send; undefined if the sealed part is missing, or for another server. */
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
