import { endOfString } from './json-depth.ts'

/** Max JSON values that callers and models may send at once: work on as many takes some milliseconds. */
export const maxValues = 20_000

/** Min characters of a string that is skipped when looking for syntax. */
const longString = 10_000

/** Returns the JSON without the contents of its long strings, such as files in base64. */
export function withoutLongStrings(json: string): string {
  let outline = ''
  let from = 0
  for (let start = json.indexOf('"'); start !== -1; ) {
    const end = endOfString(json, start)
    if (end - start > longString) {
      outline += json.slice(from, start + 1)
      from = end
    }
    start = json.indexOf('"', end + 1)
  }
  return outline + json.slice(from)
}

/**
 * Returns true if JSON contains more values than `most`, including names and lists. Many small values take
 * far longer to parse than as many bytes of text, and parsing blocks the thread; so they are counted first.
 */
export function hasMoreValuesThan(text: string | Uint8Array, most: number): boolean {
  if (text.length <= most) return false
  // The relevant characters are ASCII, which other bytes of UTF-8 never look like.
  const json = typeof text === 'string' ? text : Buffer.from(text).toString('latin1')
  let values = 0
  for (let index = 0; index < json.length && values <= most; index += 1) {
    const character = json[index]
    if (character === '"') index = endOfString(json, index)
    else if (character === ',' || character === ':' || character === '[' || character === '{') values += 1
  }
  return values > most
}
