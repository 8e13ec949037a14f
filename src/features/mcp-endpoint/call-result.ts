import type { CallResult } from './mcp-endpoint.schema.ts'

/** Converts the result of a tool to text, and keeps an object as well. */
export function resultOf(result: unknown): CallResult {
  const text = typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null')
  return { content: [{ type: 'text', text }], ...(isObject(result) ? { structuredContent: result } : {}) }
}

/** Returns a failed call with a message for its caller. */
export function failureOf(message: string): CallResult {
  return { content: [{ type: 'text', text: message }], isError: true }
}

/** Appends a text to the result. */
export function withText(result: CallResult, text: string): CallResult {
  return { ...result, content: [...result.content, { type: 'text', text }] }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
