/** A manual tool's configuration, parsed once for validating it, naming its arguments and calling it. */
import type { ManualConfiguration } from './http-configuration.ts'
import { namesIn, namesInJson, parseJsonTemplate } from './placeholders.ts'
import type { Pair } from './serialize-argument.ts'
import { isRecord } from './values.ts'

export type BodyTemplate =
  | { kind: 'none' }
  | { kind: 'json'; value: unknown }
  | { kind: 'form'; text: string }
  | { kind: 'text'; text: string }

/** Returns undefined unless the text is a JSON object whose values are strings. */
export function parseHeaders(text: string | undefined): Pair[] | undefined {
  if (text === undefined || text.trim() === '') return []
  let headers: unknown
  try {
    headers = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(headers)) return undefined
  const pairs = Object.entries(headers)
  return pairs.every((pair): pair is Pair => typeof pair[1] === 'string') ? pairs : undefined
}

export function contentTypeOf(headers: readonly Pair[]): string | undefined {
  return headers
    .find(([name]) => name.toLowerCase() === 'content-type')?.[1]
    .trim()
    .toLowerCase()
}

export function bodyTemplateOf({ body }: ManualConfiguration, headers: readonly Pair[]): BodyTemplate {
  if (body === undefined || body === null || body === '') return { kind: 'none' }
  if (typeof body !== 'string') return { kind: 'json', value: body }
  const contentType = contentTypeOf(headers)
  if (contentType?.startsWith('application/x-www-form-urlencoded')) return { kind: 'form', text: body }
  if (contentType !== undefined && !/[/+]json\b/.test(contentType)) return { kind: 'text', text: body }
  const template = parseJsonTemplate(body)
  return template === undefined ? { kind: 'text', text: body } : { kind: 'json', value: template.value }
}

/** Returns every placeholder, and whether all its places accept a value of any type, in order of first occurrence. */
export function placeholdersIn(configuration: ManualConfiguration): Map<string, boolean> {
  const headers = parseHeaders(configuration.headers) ?? []
  const body = bodyTemplateOf(configuration, headers)
  const texts = [configuration.url, ...headers.map(([, value]) => value)]
  if (body.kind === 'form' || body.kind === 'text') texts.push(body.text)
  const found = [
    ...texts.flatMap(namesIn).map(name => ({ name, isWhole: false })),
    ...(body.kind === 'json' ? namesInJson(body.value) : []),
  ]
  const placeholders = new Map<string, boolean>()
  for (const { name, isWhole } of found) placeholders.set(name, isWhole && placeholders.get(name) !== false)
  return placeholders
}
