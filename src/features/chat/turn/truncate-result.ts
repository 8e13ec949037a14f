import { isDeeperThan, maxLevels } from '#platform/json-depth.ts'
import type { ToolResult } from './turn.ts'

/** Max characters of one tool result that are kept, shown and stored. */
export const keptCharacters = 64_000
/** Max characters of one tool result once its answer's results exceed `maxTogether`. */
const keptBeyond = 1000
/** Limit for the characters of an answer's tool results: all are stored again with each change of the answer. */
const maxTogether = 2_000_000
/** Max characters of one tool result that the model sees. */
export const seenCharacters = 16_000
/** Max characters of `resultPreview`. */
export const previewCharacters = 200

const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)?[^,]{0,100},/

/**
 * Returns a small result unchanged; a larger one becomes its text, cut in the middle, and one that is nested too deeply just its
 * text. Embedded files are named, not quoted.
 */
export function truncateResult(result: unknown, characters: number): unknown {
  const light = withoutFiles(result)
  const text = textOf(light)
  if (text.length > characters) return cutMiddle(text, characters)
  return typeof light !== 'string' && isDeeperThan(maxLevels, text) ? text : light
}

export function previewOf(result: unknown): string {
  const text = textOf(result)
  return text.length <= previewCharacters ? text : `${cutEnd(text, previewCharacters - 1)}…`
}

/** Returns the max characters of one more result in an answer whose results have this many characters. */
export function keptAfter(characters: number): number {
  return characters < maxTogether ? keptCharacters : keptBeyond
}

/** Returns the characters of a call's result, or of its error. */
export function resultSize({ result, error }: Pick<ToolResult, 'result' | 'error'>): number {
  return textOf(error ?? result).length
}

export function textOf(result: unknown): string {
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null')
}

/** Keeps the beginning and the end, with a note on the length left out between them; never splits a surrogate pair. */
export function cutMiddle(text: string, characters: number): string {
  if (text.length <= characters) return text
  const room = Math.max(0, characters - noteOf(text.length).length)
  const head = cutEnd(text, Math.ceil(room * 0.7))
  const tail = cutStart(text, room - head.length)
  return `${head}${noteOf(text.length - head.length - tail.length)}${tail}`.slice(0, characters)
}

function noteOf(leftOut: number): string {
  return `\n[… ${leftOut} characters left out …]\n`
}

/** Keeps the beginning; never splits a surrogate pair. */
export function cutEnd(text: string, characters: number): string {
  const cut = text.slice(0, characters)
  const last = cut.charCodeAt(cut.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? cut.slice(0, -1) : cut
}

function cutStart(text: string, characters: number): string {
  const cut = text.slice(text.length - characters)
  const first = cut.charCodeAt(0)
  return first >= 0xdc00 && first <= 0xdfff ? cut.slice(1) : cut
}

function withoutFiles(value: unknown): unknown {
  if (typeof value === 'string') {
    const type = value.length > 2000 ? dataUrl.exec(value) : null
    return type === null ? value : `[${type[1] ?? 'file'} of ${value.length} characters left out]`
  }
  if (Array.isArray(value)) return value.map(withoutFiles)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutFiles(inner)]))
}
