import { invalid } from '#platform/errors.ts'
import type { EncodedBody } from '#platform/outbound/multipart.ts'
import { encodeValue } from '#platform/outbound/percent-encoding.ts'
import type { FormField, RequestBody } from './http-configuration.ts'
import { multipartOf } from './multipart.ts'
import { stylePairs } from './serialize-argument.ts'
import { isRecord, textOf } from './values.ts'

/** The syntax of a media type. */
export type BodyKind = 'json' | 'form' | 'multipart' | 'text'

export function bodyKindOf(mediaType: string): BodyKind {
  const [essence = ''] = mediaType.toLowerCase().split(';')
  const type = essence.trim()
  if (type === 'application/x-www-form-urlencoded') return 'form'
  if (type.startsWith('multipart/')) return 'multipart'
  if (type === '*/*' || type === 'application/*' || /[/+]json$/.test(type)) return 'json'
  return 'text'
}

export function encodeBody({ argument, mediaType, fields = [] }: RequestBody, value: unknown): EncodedBody {
  const kind = bodyKindOf(mediaType)
  if (kind === 'json') {
    return {
      contentType: mediaType.includes('*') ? 'application/json' : mediaType,
      body: JSON.stringify(value),
    }
  }
  if (kind === 'text') {
    return { contentType: mediaType.includes('*') ? 'text/plain' : mediaType, body: textOf(value) }
  }
  if (!isRecord(value)) throw invalid(argument, 'must be an object, since it is sent as a form')
  if (kind === 'form') return { contentType: mediaType, body: encodeForm(value, fields) }
  return multipartOf(value, fields)
}

/** Lists repeat their field; objects are JSON, unless the document specifies a style for them. */
function encodeForm(values: Record<string, unknown>, fields: readonly FormField[]): string {
  const known = new Map(fields.map(field => [field.name, field]))
  const pairs = Object.entries(values).flatMap(([name, value]) => {
    const { style, explode = style === undefined || style === 'form' } = known.get(name) ?? {}
    const written = style === undefined && isRecord(value) ? JSON.stringify(value) : value
    return stylePairs({ name, style: style ?? 'form', explode }, written, encodeValue)
  })
  return pairs.map(([name, value]) => `${name}=${value}`).join('&')
}
