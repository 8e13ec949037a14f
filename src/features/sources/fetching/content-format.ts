import { documentFormatOf } from '#documents/parsing/document-format.ts'
import type { FetchedFormat } from './parse-fetched.ts'

const formats: [types: RegExp, format: FetchedFormat][] = [
  [/^(?:text\/html|application\/xhtml\+xml)$/, 'html'],
  [/^(?:application|text)\/(?:json|(?:x-)?ndjson|jsonl|jsonlines|[\w.-]+\+json)$/, 'json'],
  [/^(?:(?:text|application)\/csv|text\/tab-separated-values)$/, 'csv'],
  [/^text\/(?:x-)?markdown$/, 'md'],
  [/^application\/pdf$/, 'pdf'],
  [/^application\/vnd\.openxmlformats-officedocument\.wordprocessingml\.document$/, 'docx'],
  [/^(?:text\/plain|(?:text|application)\/(?:xml|(?:x-)?yaml)|application\/[\w.-]+\+xml)$/, 'txt'],
]

/** Types that only mean text, or nothing: the name in the URL can be more precise. */
const vague = new Set(['', 'text/plain', 'application/octet-stream', 'binary/octet-stream'])

/** Returns the format of an answer of this type; undefined for a type without readable text. */
export function formatOfContent(contentType: string, url: string): FetchedFormat | undefined {
  const type = bareType(contentType)
  const byType = formats.find(([types]) => types.test(type))?.[1]
  if (!vague.has(type)) return byType
  const byName = documentFormatOf(new URL(url).pathname)
  const isText = byName !== 'pdf' && byName !== 'docx'
  return byName !== undefined && (isText || byType === undefined) ? byName : byType
}

/** Returns the type in lower case, without parameters; the first if the server sends it twice. */
export function bareType(contentType: string): string {
  return contentType.split(/[;,]/, 1)[0]?.trim().toLowerCase() ?? ''
}
