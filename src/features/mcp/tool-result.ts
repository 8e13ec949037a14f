import { parseJson } from '#platform/exact-json.ts'
import type { CallResult } from './client/connect.ts'
import { canonicalJson } from './listing/canonical-json.ts'

type Block = CallResult['content'][number]

/** Maximum length of a server's text, in characters. */
const maxTextLength = 200_000
const maxErrorTextLength = 2000

export interface ToolResult {
  text?: string
  /** The server's structured data; its text is left out if it says the same. */
  structuredContent?: unknown
  /** Content other than text, by its description. */
  attachments?: Record<string, unknown>[]
}

/** A tool's result in a form that a model can read. */
export function toolResult({ content, structuredContent }: CallResult): ToolResult {
  const text = cut(textOf(content), maxTextLength)
  const attachments = content.flatMap(attachmentOf)
  const isRepeated = structuredContent !== undefined && saysTheSame(text, structuredContent)
  return {
    ...(text === '' || isRepeated ? {} : { text }),
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(attachments.length === 0 ? {} : { attachments }),
  }
}

/** Why a tool failed, in the server's words. */
export function errorText({ content }: CallResult): string {
  return cut(textOf(content).trim(), maxErrorTextLength)
}

function textOf(content: readonly Block[]): string {
  return content
    .flatMap(block => {
      if (block.type === 'text') return [block.text]
      return block.type === 'resource' && 'text' in block.resource ? [block.resource.text] : []
    })
    .join('\n\n')
}

function attachmentOf(block: Block): Record<string, unknown>[] {
  switch (block.type) {
    case 'image':
    case 'audio':
      return [{ type: block.type, mimeType: block.mimeType, bytes: bytesOf(block.data) }]
    case 'resource_link': {
      const { type, uri, name, mimeType, description } = block
      return [{ type, uri, name, mimeType, description }]
    }
    case 'resource': {
      const { uri, mimeType } = block.resource
      const size = 'blob' in block.resource ? { bytes: bytesOf(block.resource.blob) } : {}
      return [{ type: 'resource', uri, mimeType, ...size }]
    }
    default:
      return []
  }
}

/** The size of the bytes that the Base64 text encodes. */
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

/** Shorter ones would be found by chance. */
const minSecretLength = 8

/** The value without the token that was sent to the server, which may have repeated it. */
export function withoutSecret<Value>(value: Value, token: string | undefined): Value {
  if (token === undefined || token.length < minSecretLength) return value
  const json = JSON.stringify(value)
  const written = JSON.stringify(token).slice(1, -1)
  return json.includes(written) ? parseJson(json.replaceAll(written, '[redacted]')) : value
}
