/** Bodies of forms. A field is a text, number, boolean, a list of them, which repeats it, or a file. */
import { invalid } from '../errors.ts'
import { type EncodedBody, encodeMultipart, type Part } from './multipart.ts'

export function formKindOf(contentType: string): 'urlencoded' | 'multipart' | undefined {
  const [type = ''] = contentType.toLowerCase().split(';')
  if (type.trim() === 'application/x-www-form-urlencoded') return 'urlencoded'
  return type.trim() === 'multipart/form-data' ? 'multipart' : undefined
}

/**
 * Returns an object of fields as a form of this content type; undefined for other content types.
 * @throws VALIDATION_ERROR for a value that has no place in a form.
 */
export function encodeFields(fields: unknown, contentType: string): EncodedBody | undefined {
  const kind = formKindOf(contentType)
  if (kind === undefined) return undefined
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    throw invalid('body', 'must be an object of fields, such as {"name": "Ada"}, since it is sent as a form')
  const entries = Object.entries(fields)
  if (kind === 'multipart') return encodeMultipart(entries.flatMap(([name, value]) => partsOf(name, value)))
  const pairs = new URLSearchParams()
  for (const [name, value] of entries) for (const text of fieldTexts(name, value)) pairs.append(name, text)
  return { contentType, body: pairs.toString() }
}

/**
 * Returns the reason why a text can't be the body of a multipart form: an inserted value could begin another
 * part.
 * @param isFilled true if values are inserted into the text.
 */
export function multipartTextProblem(contentType: string, isFilled: boolean): string | undefined {
  if (formKindOf(contentType) !== 'multipart' || (!isFilled && /;\s*boundary=/i.test(contentType)))
    return undefined
  return 'must be an object of fields, such as {"name": "Ada"}, since it is sent as multipart/form-data'
}

/** Returns the texts of a field, one for each value of a list. */
export function fieldTexts(name: string, value: unknown): string[] {
  return [value].flat().map(one => fieldText(name, one))
}

/** Returns the text of a value, empty for null. */
export function fieldText(name: string, value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value ?? '').toWellFormed()
  const kind = Array.isArray(value) ? 'a list' : 'an object'
  throw invalid(
    name,
    `holds ${kind} where a form has a text: name a field for each of its values, such as ${name}[id], or make a text of it before`,
  )
}

function partsOf(name: string, value: unknown): Part[] {
  return [value].flat().map(one => fileOf(name, one) ?? { name, content: fieldText(name, one) })
}

const mediaType = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w-]+=[\w.+-]+)*$/

function fileOf(name: string, value: unknown): Part | undefined {
  const {
    filename,
    content_type = 'application/octet-stream',
    data,
  } = Object(value) as Record<string, unknown>
  if (typeof filename !== 'string' || typeof data !== 'string') return undefined
  if (typeof content_type !== 'string' || !mediaType.test(content_type))
    throw invalid(`${name}.content_type`, 'is not a media type such as image/png')
  const content = Buffer.from(data, 'base64')
  if (content.toString('base64') !== data) throw invalid(`${name}.data`, 'is not base64')
  return { name, filename, contentType: content_type, content }
}
