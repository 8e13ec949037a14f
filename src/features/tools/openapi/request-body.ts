import { isTextual } from '#platform/outbound/read-content.ts'
import { type BodyKind, bodyKindOf } from '../calling/encode-body.ts'
import type { FormField, Method, RequestBody } from '../calling/http-configuration.ts'
import { isRecord, type JsonRecord, ownValue } from '../calling/values.ts'
import { isCleanName } from './clean-text.ts'
import { entriesOf, listOf } from './convert-schema.ts'
import type { References } from './references.ts'

/** The body of an operation, before it gets the name of an argument. */
export interface Body extends Omit<RequestBody, 'argument'> {
  description: unknown
  schema: unknown
}

export interface ReadBody {
  body?: Body
  warnings: string[]
  fault?: string
}

const maxMediaTypeLength = 200
const formStyles = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'] as const

export function readRequestBody(references: References, source: unknown, method: Method): ReadBody {
  if (source === undefined || source === null) return { warnings: [] }
  const found = references.resolve(source)
  // It is unknown whether the body is required, and a call without it would differ from the document.
  if (!found.ok) return { warnings: [], fault: `its request body can't be read: ${found.problem}` }
  if (method === 'GET' || method === 'HEAD' || method === 'TRACE') {
    return { warnings: [`The request body was left out: requests with ${method} have none.`] }
  }
  const required = ownValue(found.value, 'required') === true
  const chosen = chooseMediaType(ownValue(found.value, 'content'))
  if (chosen === undefined) {
    const reason = 'its request body has no media type that can be sent'
    return required
      ? { warnings: [], fault: reason }
      : { warnings: [`The request body was left out: ${reason}.`] }
  }
  const kind = bodyKindOf(chosen.mediaType)
  const schema = schemaFor(kind, chosen)
  const fields = kind === 'form' || kind === 'multipart' ? fieldsOf(references, schema, chosen.content) : []
  const body: Body = {
    mediaType: chosen.mediaType,
    required,
    description: ownValue(found.value, 'description'),
    schema,
    ...(fields.length === 0 ? {} : { fields }),
  }
  return { body, warnings: [] }
}

const preference: readonly BodyKind[] = ['json', 'form', 'multipart', 'text']

/** Prefers JSON, plain application/json before its variants; then forms, then anything that can be sent as text. */
function chooseMediaType(content: unknown): { mediaType: string; content: unknown } | undefined {
  const rank = (mediaType: string) => {
    const exact = /^(?:application\/json|text\/plain)\b/i.test(mediaType) ? 0 : 1
    return preference.indexOf(bodyKindOf(mediaType)) * 2 + exact
  }
  const usable = entriesOf(content).filter(([mediaType]) => isMediaType(mediaType))
  const [best] = usable.toSorted(([one], [other]) => rank(one) - rank(other))
  return best && { mediaType: best[0], content: best[1] }
}

function isMediaType(text: string): boolean {
  return (
    text.length <= maxMediaTypeLength && /^[\w*!#$&^.+-]+\/[\w*!#$&^.+-]+(?:\s*;[\x20-\x7e]*)?$/.test(text)
  )
}

/** Returns the schema: any body but JSON and forms is text. */
function schemaFor(kind: BodyKind, { mediaType, content }: { mediaType: string; content: unknown }): unknown {
  if (kind === 'text') return { type: 'string', description: `The text of the body, as ${mediaType}.` }
  const schema = ownValue(content, 'schema')
  if (schema !== undefined) return schema
  return kind === 'json' ? {} : { type: 'object' }
}

/** Returns fields that are files, or that the document encodes in a non-default way. */
function fieldsOf(references: References, schema: unknown, content: unknown): FormField[] {
  const encoding = ownValue(content, 'encoding')
  const files = new Set(fileNames(references, schema))
  const encoded = entriesOf(encoding)
  for (const [name, { contentType }] of encoded as [string, { contentType?: unknown }][])
    if (typeof contentType === 'string' && contentType.split(',').every(type => !isTextual(type)))
      files.add(name)
  const names = new Set([...encoded.map(([name]) => name), ...files])
  return [...names]
    .filter(name => isCleanName(name))
    .slice(0, 200)
    .map(name => fieldOf(name, ownValue(encoding, name), files.has(name)))
    .filter(field => Object.keys(field).length > 1)
}

function fieldOf(name: string, encoding: unknown, isFile: boolean): FormField {
  const style = formStyles.find(one => one === ownValue(encoding, 'style'))
  const explode = ownValue(encoding, 'explode')
  const contentType = ownValue(encoding, 'contentType')
  // A list of types leaves the choice to the sender, who knows only that it is a file.
  const isOneType = typeof contentType === 'string' && isMediaType(contentType) && !contentType.includes('*')
  return {
    name,
    ...(style === undefined ? {} : { style }),
    ...(typeof explode === 'boolean' ? { explode } : {}),
    ...(isOneType ? { contentType } : {}),
    ...(isFile ? { isFile } : {}),
  }
}

const combining = ['allOf', 'anyOf', 'oneOf']
/** Max depth of nested combinations and lists. */
const maxDepth = 8

/** Returns the schema and the schemas that it combines. */
function partsOf(references: References, schema: unknown, depth = maxDepth): JsonRecord[] {
  const found = references.resolve(schema)
  if (depth < 0 || !found.ok || !isRecord(found.value)) return []
  const { value } = found
  const inner = combining.flatMap(keyword => listOf(value[keyword]))
  return [value, ...inner.flatMap(part => partsOf(references, part, depth - 1))]
}

function fileNames(references: References, schema: unknown): string[] {
  return partsOf(references, schema)
    .flatMap(part => entriesOf(ownValue(part, 'properties')))
    .filter(([, property]) => isFile(references, property))
    .map(([name]) => name)
}

/** True for a file, or a list of files; a text that encodes one is none. */
function isFile(references: References, property: unknown, depth = maxDepth): boolean {
  return partsOf(references, property, depth).some(part => {
    const { format, contentMediaType, contentEncoding, items, type } = part
    if (format === 'binary' || type === 'file') return true
    if (typeof contentMediaType === 'string' && contentEncoding === undefined)
      return !isTextual(contentMediaType)
    return depth > 0 && items !== undefined && isFile(references, items, depth - 1)
  })
}
