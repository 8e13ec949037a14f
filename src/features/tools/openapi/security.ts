import { isConnectionHeader, isHeaderName } from '#platform/outbound/header-rules.ts'
import type { SecurityScheme } from '../calling/http-configuration.ts'
import { isRecord, type JsonRecord, ownValue } from '../calling/values.ts'
import { cleanText, isCleanName } from './clean-text.ts'
import { entriesOf, listOf } from './convert-schema.ts'
import { limits } from './limits.ts'
import type { References } from './references.ts'

/** A scheme, with the facts that a person needs to set its credential. */
export interface DescribedScheme extends SecurityScheme {
  description?: string
  /** The declared kind, such as `oauth2`, whose token is sent as a bearer token. */
  declaredAs: string
}

export interface ReadSecurity {
  alternatives: SecurityScheme[][]
  warnings: string[]
}

export interface Security {
  /** Reads the security of an operation. Records the schemes in use. */
  requirementsOf(operation: unknown): ReadSecurity
  used(): DescribedScheme[]
}

const maxAlternatives = 16
const maxDescriptionLength = 500

export function createSecurity(document: JsonRecord, references: References): Security {
  const declared = ownValue(ownValue(document, 'components'), 'securitySchemes')
  const used = new Map<string, DescribedScheme>()

  function schemeNamed(name: string): DescribedScheme | undefined {
    const scheme = used.get(name) ?? readScheme(name, references.resolve(ownValue(declared, name)))
    if (scheme !== undefined) used.set(name, scheme)
    return scheme
  }

  return {
    requirementsOf(operation) {
      const own = ownValue(operation, 'security')
      const listed = listOf(Array.isArray(own) ? own : ownValue(document, 'security')).filter(isRecord)
      const alternatives: SecurityScheme[][] = []
      const warnings: string[] = []
      for (const requirement of listed.slice(0, maxAlternatives)) {
        const names = entriesOf(requirement).map(([name]) => name)
        const schemes = names.map(schemeNamed).filter(scheme => scheme !== undefined)
        if (schemes.length === names.length) alternatives.push(schemes.map(essentials))
      }
      if (listed.length > 0 && alternatives.length === 0) {
        warnings.push('It needs a kind of credential that tools can not send; it is called without.')
      }
      return { alternatives, warnings }
    },
    used: () => [...used.values()],
  }
}

function essentials({ scheme, type, in: place, name }: DescribedScheme): SecurityScheme {
  return {
    scheme,
    type,
    ...(place === undefined ? {} : { in: place }),
    ...(name === undefined ? {} : { name }),
  }
}

/** Returns undefined for kinds for which no token, key or password suffices, such as client certificates. */
function readScheme(scheme: string, found: ReturnType<References['resolve']>): DescribedScheme | undefined {
  if (!found.ok || scheme.length > limits.nameCharacters || !isCleanName(scheme) || scheme === '__proto__') {
    return undefined
  }
  const type = ownValue(found.value, 'type')
  const text = ownValue(found.value, 'description')
  const description = typeof text === 'string' ? { description: cleanText(text, maxDescriptionLength) } : {}
  if (type === 'oauth2' || type === 'openIdConnect') {
    return { scheme, type: 'bearer', declaredAs: type, ...description }
  }
  if (type === 'apiKey') {
    const key = apiKeyOf(found.value)
    return key && { scheme, type, declaredAs: type, ...key, ...description }
  }
  const kind = String(ownValue(found.value, 'scheme')).toLowerCase()
  if (type !== 'http' || (kind !== 'basic' && kind !== 'bearer')) return undefined
  return { scheme, type: kind, declaredAs: `http ${kind}`, ...description }
}

function apiKeyOf(source: unknown): Pick<SecurityScheme, 'in' | 'name'> | undefined {
  const name = ownValue(source, 'name')
  const place = ownValue(source, 'in')
  if (typeof name !== 'string' || !isCleanName(name) || name.length > limits.nameCharacters) return undefined
  if (place === 'query' || place === 'cookie') return { in: place, name }
  const canBeSet = isHeaderName(name) && !isConnectionHeader(name)
  return place === 'header' && canBeSet ? { in: place, name } : undefined
}
