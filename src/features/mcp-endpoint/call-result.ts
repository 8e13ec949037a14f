import type { CallResult } from './mcp-endpoint.schema.ts'

/** The result of a tool as text, and as it is where it is an object. */
export function resultOf(result: unknown): CallResult {
  const text = typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null')
  return { content: [{ type: 'text', text }], ...(isObject(result) ? { structuredContent: result } : {}) }
}

/** A failed call, in words for its caller. */
export function failureOf(message: string): CallResult {
  return { content: [{ type: 'text', text: message }], isError: true }
}

/** The result with a text behind its own. */
export function withText(result: CallResult, text: string): CallResult {
  return { ...result, content: [...result.content, { type: 'text', text }] }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
