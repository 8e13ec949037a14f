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

/** Types that say no more than that it is text, or nothing at all: the name in the URL may know better. */
const vague = new Set(['', 'text/plain', 'application/octet-stream', 'binary/octet-stream'])

/** How an answer of this type is read; undefined for what holds no text that could be. */
export function formatOfContent(contentType: string, url: string): FetchedFormat | undefined {
  const type = bareType(contentType)
  const byType = formats.find(([types]) => types.test(type))?.[1]
  if (!vague.has(type)) return byType
  const byName = documentFormatOf(new URL(url).pathname)
  const isText = byName !== 'pdf' && byName !== 'docx'
  return byName !== undefined && (isText || byType === undefined) ? byName : byType
}

/** In lower case, without its parameters; the first one of a server that names its type twice. */
export function bareType(contentType: string): string {
  return contentType.split(/[;,]/, 1)[0]?.trim().toLowerCase() ?? ''
}
