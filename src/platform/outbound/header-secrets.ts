import { invalid } from '../errors.ts'
import { mayHoldSecret } from './header-rules.ts'

/*
 * Headers that can hold a secret are stored and shown with a mask in its place; the secrets are elsewhere, by the
 * header's name in lower case.
 */

const mask = '********'

export type HeaderPairs = readonly (readonly [name: string, value: string])[]
export type HeaderSecrets = Readonly<Record<string, string>>

/** Previously saved headers, which an unchanged mask refers to. */
export interface KeptHeaders {
  secrets: HeaderSecrets
  /** True if the headers still go to the server that the secrets were given for. */
  isSameOrigin: boolean
}

interface Field {
  /** The field of the headers, for messages. */
  field: string
  /** Returns the parts of a value that stay visible behind its mask: values from them must not change. */
  visibleIn(value: string): string
}

/** @throws VALIDATION_ERROR for a mask without a secret behind it, or with one of another server. */
export function takeSecrets(
  headers: HeaderPairs,
  kept: KeptHeaders,
  { field, visibleIn }: Field,
): { headers: [string, string][]; secrets: HeaderSecrets } {
  const secrets: Record<string, string> = Object.create(null)
  const shown = headers.map(([name, value]): [string, string] => {
    if (!mayHoldSecret(name)) return [name, value]
    const key = name.toLowerCase()
    const secret = value.startsWith(mask) ? keptSecret(kept, key) : value
    if (secret === undefined) throw invalid(field, unknownValue(name, kept))
    secrets[key] = secret
    return [name, mask + visibleIn(secret)]
  })
  return { headers: shown, secrets }
}

/** Returns the headers to send, with their secrets. */
export function putSecrets(headers: HeaderPairs, secrets: HeaderSecrets): [string, string][] {
  return headers.map(([name, value]) => [name, own(secrets, name.toLowerCase()) ?? value])
}

function keptSecret({ secrets, isSameOrigin }: KeptHeaders, name: string): string | undefined {
  return isSameOrigin ? own(secrets, name) : undefined
}

function unknownValue(name: string, { secrets, isSameOrigin }: KeptHeaders): string {
  return isSameOrigin || Object.keys(secrets).length === 0
    ? `the value of ${name} is not known here; enter it again`
    : 'the address leads to another server, which must not get the secrets of the former one; enter their values again'
}

/** Returns a secret; names of headers can be those of inherited properties: `constructor`, `__proto__`. */
function own(secrets: HeaderSecrets, name: string): string | undefined {
  return Object.hasOwn(secrets, name) ? secrets[name] : undefined
}
