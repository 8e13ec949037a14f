import { isDeepStrictEqual } from 'node:util'
import type { CallResult } from './client/connect.ts'

type Block = CallResult['content'][number]

/** Characters of a server's text that are kept. */
const longestText = 200_000
const longestErrorText = 2000

export interface ToolResult {
  text?: string
  /** The server's own data; its text is left out where it says the same. */
  structuredContent?: unknown
  /** What is no text, by what is known of it. */
  attachments?: Record<string, unknown>[]
}

/** What a tool answered, as a model can read it. */
export function toolResult({ content, structuredContent }: CallResult): ToolResult {
  const text = cut(textOf(content), longestText)
  const attachments = content.flatMap(attachmentOf)
  const isTold = structuredContent !== undefined && saysTheSame(text, structuredContent)
  return {
    ...(text === '' || isTold ? {} : { text }),
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(attachments.length === 0 ? {} : { attachments }),
  }
}

/** Why a tool failed, in the server's words. */
export function errorText({ content }: CallResult): string {
  return cut(textOf(content).trim(), longestErrorText)
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

/** Of what the Base64 text stands for. */
function bytesOf(base64: string): number {
  return Math.floor((base64.replace(/=+$/, '').length * 3) / 4)
}

function saysTheSame(text: string, structured: unknown): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(text), structured)
  } catch {
    return false
  }
}

function cut(text: string, characters: number): string {
  if (text.length <= characters) return text
  return `${text.slice(0, characters).toWellFormed()}\n[… ${text.length - characters} characters left out …]`
}

/** Shorter ones would be found by chance. */
const shortestSecret = 8

/** The value without the token that was shown to the server, which may have repeated it. */
export function withoutSecret<Value>(value: Value, token: string | undefined): Value {
  if (token === undefined || token.length < shortestSecret) return value
  const json = JSON.stringify(value)
  const written = JSON.stringify(token).slice(1, -1)
  return json.includes(written) ? JSON.parse(json.replaceAll(written, '[redacted]')) : value
}
