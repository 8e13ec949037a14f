import { parseJson } from '#platform/exact-json.ts'
import { canonicalJson } from './listing/canonical-json.ts'

/** Max length of a server's text, in characters. */
const maxTextLength = 200_000
const maxErrorTextLength = 2000

export interface ToolResult {
  text?: string
  /** The server's structured data; the text is left out if it repeats them. */
  structuredContent?: unknown
  /** Descriptions of content other than text. */
  attachments?: Record<string, unknown>[]
  /** Unreadable parts of the result, although the tool did run. */
  note?: string
}

/** A result that was read member by member; `odd` lists unusable parts, as the ends of sentences. */
interface ReadResult extends ToolResult {
  isError: boolean
  odd: string[]
}

/** Returns a tool's result in a form that a model can read: an odd member is lost without the rest. */
export function readResult(result: unknown): ReadResult {
  const { content, structuredContent, isError, toolResult }: Members = isMembers(result) ? result : {}
  const odd = isMembers(result) ? [] : [`the result is ${kindOf(result)}`]
  const blocks = [content ?? []].flat().map(blockOf)
  odd.push(...blocks.flatMap(block => block.odd ?? []))
  if (!['boolean', 'undefined'].includes(typeof (isError ?? false))) odd.push(`isError is ${kindOf(isError)}`)
  // `toolResult` is of the protocol's first version; without either, a non-object result is the data.
  const structured = structuredContent ?? toolResult ?? (isMembers(result) ? undefined : result) ?? undefined
  const text = cut(blocks.flatMap(block => block.text ?? []).join('\n\n'), maxTextLength)
  const attachments = blocks.flatMap(({ attachment }) => (attachment === undefined ? [] : [attachment]))
  const isRepeated = structured !== undefined && saysTheSame(text, structured)
  return {
    isError: isError === true || isError === 'true',
    odd,
    ...(text === '' || isRepeated ? {} : { text }),
    ...(structured === undefined ? {} : { structuredContent: structured }),
    ...(attachments.length === 0 ? {} : { attachments }),
  }
}

/** Returns the reason of a tool's failure, in the server's words and data. */
export function errorText({ text, structuredContent }: ToolResult): string {
  const data = structuredContent === undefined ? undefined : JSON.stringify(structuredContent)
  return cut([text?.trim(), data].filter(Boolean).join(' '), maxErrorTextLength)
}

type Members = Record<string, unknown>

interface Block {
  text?: string
  attachment?: Record<string, unknown>
  odd?: string
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return Array.isArray(value) ? 'a list' : `of the type ${typeof value}`
}

function blockOf(block: unknown, index: number): Block {
  if (typeof block === 'string') return { text: block }
  const { type, text, data, mimeType, uri, name, description, resource }: Members = isMembers(block)
    ? block
    : {}
  if (type === 'text' && typeof text === 'string') return { text }
  if ((type === 'image' || type === 'audio') && typeof data === 'string')
    return { attachment: { type, mimeType, bytes: bytesOf(data) } }
  if (type === 'resource_link') return { attachment: { type, uri, name, mimeType, description } }
  if (type === 'resource' && isMembers(resource)) {
    const { uri, mimeType, text, blob } = resource
    const size = typeof blob === 'string' ? { bytes: bytesOf(blob) } : {}
    return { ...(typeof text === 'string' ? { text } : {}), attachment: { type, uri, mimeType, ...size } }
  }
  const shown = typeof type === 'string' ? ` of the type ${JSON.stringify(type.slice(0, 40))}` : ''
  return { odd: `content[${index}] is no block${shown} that can be read` }
}

/** Returns the number of bytes that the Base64 text encodes. */
function bytesOf(base64: string): number {
  return Math.floor((base64.replace(/=+$/, '').length * 3) / 4)
}

function saysTheSame(text: string, structured: unknown): boolean {
  try {
    return canonicalJson(parseJson(text)) === canonicalJson(structured)
  } catch {
    return false
  }
}

function cut(text: string, characters: number): string {
  if (text.length <= characters) return text
  return `${text.slice(0, characters).toWellFormed()}\n[… ${text.length - characters} characters left out …]`
}

/** Min length of a secret: shorter ones would be found by chance. */
const minSecretLength = 8

/** Returns the value without the token of the server, which might have repeated it. */
export function withoutSecret<Value>(value: Value, token: string | undefined): Value {
  if (token === undefined || token.length < minSecretLength) return value
  const json = JSON.stringify(value)
  const written = JSON.stringify(token).slice(1, -1)
  return json.includes(written) ? parseJson(json.replaceAll(written, '[redacted]')) : value
}
