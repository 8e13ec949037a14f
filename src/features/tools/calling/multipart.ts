import { type EncodedBody, encodeMultipart, type Part } from '#platform/outbound/multipart.ts'
import type { FormField } from './http-configuration.ts'
import { isRecord, textOf } from './values.ts'

/** A list gives one part per value, an object one part of JSON. */
export function multipartOf(values: Record<string, unknown>, fields: readonly FormField[]): EncodedBody {
  const known = new Map(fields.map(field => [field.name, field]))
  return encodeMultipart(
    Object.entries(values).flatMap(([name, value]) => partsOf(name, value, known.get(name))),
  )
}

function partsOf(name: string, value: unknown, field: FormField | undefined): Part[] {
  if (value === undefined || value === null) return []
  const filename = field?.isFile ? name : undefined
  return [value].flat().map(one => {
    const customary = field?.isFile
      ? 'application/octet-stream'
      : isRecord(one) || Array.isArray(one)
        ? 'application/json'
        : undefined
    return { name, filename, contentType: field?.contentType ?? customary, content: textOf(one) }
  })
}
