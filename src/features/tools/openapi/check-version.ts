import { isRecord, type JsonRecord, ownValue } from '../calling/values.ts'
import { cleanLine } from './clean-text.ts'

export type CheckedDocument =
  | { ok: true; document: JsonRecord; isBefore31: boolean }
  | { ok: false; issue: string }

const maxShown = 40

/** Rejects anything but an OpenAPI 3 document, and names the kind of document. */
export function checkVersion(document: unknown): CheckedDocument {
  if (!isRecord(document)) {
    return refusal('An OpenAPI document is an object with the members openapi, info and paths; this is none.')
  }
  const swagger = ownValue(document, 'swagger') ?? ownValue(document, 'swaggerVersion')
  const version = versionText(ownValue(document, 'openapi'))
  if (version === undefined && swagger !== undefined) {
    const shown = cleanLine(String(versionText(swagger) ?? ''), maxShown)
    return refusal(`This is a Swagger ${shown} document; convert it to OpenAPI 3 first.`)
  }
  if (version === undefined) {
    return refusal(
      'The document does not say its version; an OpenAPI 3 document has the member openapi, such as "3.1.0".',
    )
  }
  if (!/^3(?:\.\d+){1,2}(?:-[\w.]+)?$/.test(version)) {
    return refusal(
      `The document is of OpenAPI version ${JSON.stringify(cleanLine(version, maxShown))}; give one of version 3.0 or 3.1.`,
    )
  }
  const paths = ownValue(document, 'paths')
  if (paths !== undefined && paths !== null && !isRecord(paths)) {
    return refusal('The member paths of the document must be an object whose names are paths such as /pets.')
  }
  return { ok: true, document, isBefore31: /^3\.0/.test(version) }
}

/** YAML parses an unquoted version as a number. */
function versionText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? value.trim() : undefined
}

function refusal(issue: string): CheckedDocument {
  return { ok: false, issue }
}
