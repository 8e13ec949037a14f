/** Multipart forms (RFC 7578), as browsers write them. */
import { createHash } from 'node:crypto'
import type { EncodedBody } from './encoded-body.ts'
import type { FormField } from './http-configuration.ts'
import { textOf } from './values.ts'

interface Part {
  head: string
  text: string
}

const boundaryLength = 32

export function encodeMultipart(values: Record<string, unknown>, fields: readonly FormField[]): EncodedBody {
  const known = new Map(fields.map(field => [field.name, field]))
  const parts = Object.entries(values).flatMap(([name, value]) => partsOf(name, value, known.get(name)))
  const boundary = boundaryFor(parts)
  const lines = parts.map(({ head, text }) => `--${boundary}\r\n${head}\r\n\r\n${text}\r\n`)
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: new TextEncoder().encode(`${lines.join('')}--${boundary}--\r\n`),
  }
}

/** A list gives one part per value, an object one part of JSON. */
function partsOf(name: string, value: unknown, field: FormField | undefined): Part[] {
  if (value === undefined || value === null) return []
  const values = Array.isArray(value) ? value : [value]
  return values.map(one => ({ head: headOf(name, one, field), text: textOf(one) }))
}

function headOf(name: string, value: unknown, field: FormField | undefined): string {
  const isObject = typeof value === 'object' && value !== null
  const byCustom = field?.isFile ? 'application/octet-stream' : isObject ? 'application/json' : undefined
  const type = field?.contentType ?? byCustom
  const file = field?.isFile ? `; filename="${quoted(name)}"` : ''
  const disposition = `Content-Disposition: form-data; name="${quoted(name)}"${file}`
  return type === undefined ? disposition : `${disposition}\r\nContent-Type: ${type}`
}

/** Escaped according to the HTML standard, so that no name can begin a header or part of its own. */
function quoted(name: string): string {
  return name.toWellFormed().replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')
}

/** Derived from the parts that it separates: the same call gives the same request, and no value can deliberately contain it. */
function boundaryFor(parts: readonly Part[]): string {
  const hash = createHash('sha256')
  for (const { head, text } of parts) hash.update(`${head.length}:${head}${text.length}:${text}`)
  return `form-${hash.digest('hex').slice(0, boundaryLength)}`
}
