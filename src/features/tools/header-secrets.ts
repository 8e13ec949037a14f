import { invalid } from '#platform/errors.ts'
import { mayHoldSecret } from '#platform/outbound/header-rules.ts'
import { parseHeaders } from './calling/manual-template.ts'
import { namesIn } from './calling/placeholders.ts'

/*
 * Headers of a tool are JSON text. Those that may hold a secret are stored with a mask in its place; the secrets stand
 * elsewhere, by the header's name in lower case.
 */

const mask = '********'

export interface SplitHeaders {
  /** As stored and shown. */
  headers: string | undefined
  secrets: Record<string, string>
}

/**
 * @param kept the secrets that the tool has: a mask that was sent back unchanged stands for one of them.
 * @throws VALIDATION_ERROR for a mask without a secret behind it.
 */
export function takeSecrets(
  headers: string | undefined,
  kept: Readonly<Record<string, string>>,
): SplitHeaders {
  const secrets: Record<string, string> = Object.create(null)
  const shown = (parseHeaders(headers) ?? []).map(([name, value]) => {
    if (!mayHoldSecret(name)) return [name, value]
    const key = name.toLowerCase()
    const secret = value.startsWith(mask) ? own(kept, key) : value
    if (secret === undefined)
      throw invalid('configuration.headers', `the value of ${name} is not known here; enter it again`)
    secrets[key] = secret
    return [name, maskOf(secret)]
  })
  return { headers: headers === undefined ? undefined : JSON.stringify(Object.fromEntries(shown)), secrets }
}

/** The headers as they are to be sent. */
export function putSecrets(
  headers: string | undefined,
  secrets: Readonly<Record<string, string>>,
): string | undefined {
  if (headers === undefined) return undefined
  const whole = (parseHeaders(headers) ?? []).map(([name, value]) => [
    name,
    own(secrets, name.toLowerCase()) ?? value,
  ])
  return JSON.stringify(Object.fromEntries(whole))
}

/** Headers may have the name of an inherited property: `constructor`, `__proto__`. */
function own(secrets: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(secrets, name) ? secrets[name] : undefined
}

/** Placeholders remain visible: they are names of arguments, and what is derived from them must not change. */
function maskOf(secret: string): string {
  return (
    mask +
    namesIn(secret)
      .map(name => `{${name}}`)
      .join('')
  )
}
