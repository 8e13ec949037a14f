import { parseJson } from '#platform/exact-json.ts'
import { UnreadableAnswer } from './call-failure.ts'
import type { Fields } from './chunk.ts'
import { fieldsOf, firstOf, isFields, textOf } from './chunk.ts'
import type { StreamEvent } from './event-data.ts'

export type EventMeaning =
  | { kind: 'chunk'; chunk: Fields; isWhole: boolean }
  | { kind: 'error'; error: unknown }
  | { kind: 'done' }
  /** A keep-alive, an event of another type, or anything else without `choices`. */
  | { kind: 'nothing' }

/** Throws UnreadableAnswer for data that begin as JSON and are none. */
export function meaningOf({ type, data }: StreamEvent): EventMeaning {
  const content = data.trim()
  if (type === 'error' && content !== '')
    return { kind: 'error', error: errorIn(jsonOf(content)) ?? { message: content.slice(0, 2000) } }
  if (type !== 'message' && type !== 'document') return { kind: 'nothing' }
  const isWhole = type === 'document'
  if (content === '[DONE]') return { kind: 'done' }
  if (!mayBeJson(content)) return { kind: 'nothing' }
  const chunk = firstOf(parsed(content))
  const error = errorIn(chunk)
  if (error !== undefined) return { kind: 'error', error }
  if (!isFields(chunk)) return { kind: 'nothing' }
  if (Array.isArray(chunk.choices) || isFields(chunk.usage)) return { kind: 'chunk', chunk, isWhole }
  return isWhole && textOf(chunk.message) ? { kind: 'error', error: chunk } : { kind: 'nothing' }
}

/** Whether the end of the stream has cut the event off. */
export function isCutOff({ data }: StreamEvent): boolean {
  return mayBeJson(data) && jsonOf(data) === undefined
}

function mayBeJson(text: string): boolean {
  return /^\s*[{[]/.test(text)
}

function jsonOf(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}

function parsed(data: string): unknown {
  try {
    return parseJson(data)
  } catch (cause) {
    throw new UnreadableAnswer('A chunk of the answer is not JSON.', cause)
  }
}

/** The error that an event or a body contains, which servers phrase in several ways. */
function errorIn(value: unknown): unknown {
  const chunk = fieldsOf(firstOf(value))
  const { error, choices, code, status } = chunk
  if (error) return isFields(error) ? { code, status, ...error } : { ...chunk, message: String(error) }
  if (Array.isArray(choices)) return undefined
  const { object, type, message, detail, statusCode } = chunk
  if (object === 'error' || type === 'error') return chunk
  if (textOf(message) && (code ?? status ?? statusCode) !== undefined) return { status: statusCode, ...chunk }
  return textOf(detail) === undefined ? undefined : { ...chunk, message: detail }
}
