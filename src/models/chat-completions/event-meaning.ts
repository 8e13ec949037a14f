import { parseJson } from '#platform/exact-json.ts'
import { isDeeperThan, maxLevels } from '#platform/json-depth.ts'
import { UnreadableAnswer } from './call-failure.ts'
import { type Fields, fieldsOf, firstOf, isError, isFields, textOf } from './chunk.ts'
import type { StreamEvent } from './event-data.ts'

export type EventMeaning =
  | { kind: 'chunk'; chunk: Fields; isWhole: boolean }
  | { kind: 'error'; error: unknown }
  | { kind: 'done' }
  /** A keep-alive, an event of another type, or anything else without `choices`. */
  | { kind: 'nothing' }

/** Returns the meaning of an event. Throws UnreadableAnswer for invalid data that begin like JSON. */
export function meaningOf({ type, data }: StreamEvent): EventMeaning {
  const content = data.trim()
  if (type === 'error' && content !== '')
    return { kind: 'error', error: errorIn(jsonOf(content)) ?? { message: content.slice(0, 2000) } }
  if (type !== 'message' && type !== 'document') return { kind: 'nothing' }
  const isWhole = type === 'document'
  if (content === '[DONE]') return { kind: 'done' }
  if (!mayBeJson(content)) return { kind: 'nothing' }
  const value = jsonOf(content)
  // A line of a server's log can begin with a bracket, too; a torn whole answer is no answer, either.
  if (value === undefined && isWhole) return { kind: 'nothing' }
  if (value === undefined) throw new UnreadableAnswer('A chunk of the answer is not JSON.')
  const chunk = firstOf(value)
  const error = errorIn(chunk)
  if (error !== undefined) return { kind: 'error', error }
  if (!isFields(chunk)) return { kind: 'nothing' }
  if (Array.isArray(chunk.choices) || isFields(chunk.usage)) return { kind: 'chunk', chunk, isWhole }
  return isWhole && textOf(chunk.message) ? { kind: 'error', error: chunk } : { kind: 'nothing' }
}

/** True if the end of the stream has cut the event off. */
export function isCutOff({ data }: StreamEvent): boolean {
  return mayBeJson(data) && jsonOf(data) === undefined
}

/** True for a text that begins like JSON; marks such as `[PING]` do not. */
function mayBeJson(text: string): boolean {
  return /^\s*(?:\{|\[\s*(?:\{|$))/.test(text)
}

/** Characters that are nested no more deeply than what is done with them recurses. */
const shallow = 1000

function jsonOf(data: string): unknown {
  if (data.length > shallow && isDeeperThan(maxLevels, data)) return undefined
  try {
    return parseJson(data)
  } catch {
    return undefined
  }
}

/** Codes of success, and states of a queued question. */
const passing =
  /^(?:0|[123]\d\d|ok|success\w*|processing|pending|queued|loading|running|in[_-]progress|starting|)$/i

function isFailure(code: unknown): boolean {
  return (typeof code === 'string' || typeof code === 'number') && !passing.test(String(code))
}

/**
 * Returns the error in an event or a body, in the various forms of servers: `errors` is Cloudflare's,
 * `base_resp` MiniMax's.
 */
function errorIn(value: unknown): unknown {
  const chunk = fieldsOf(firstOf(value))
  const { errors, choices, code, status } = chunk
  const { status_code: number, status_msg: words } = fieldsOf(chunk.base_resp)
  if (number) return { code: number, message: words }
  const error = isError(chunk.error) ? chunk.error : firstOf(errors)
  if (isError(error))
    return isFields(error) ? { code, status, ...error } : { ...chunk, message: String(error) }
  if (Array.isArray(choices)) return undefined
  const { object, type, message, detail, statusCode } = chunk
  if (object === 'error' || type === 'error') return chunk
  if (textOf(message) && [code, status, statusCode].some(isFailure)) return { status: statusCode, ...chunk }
  return textOf(detail) === undefined ? undefined : { ...chunk, message: detail }
}
