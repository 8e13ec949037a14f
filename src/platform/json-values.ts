const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const colon = 0x3a
const openBracket = 0x5b
const openBrace = 0x7b

/** Values of JSON that callers and models may send in one piece: what is done with as many takes some milliseconds. */
export const mostValues = 20_000

/**
 * Whether JSON contains more values than that, including names and lists. Many small values take far longer to parse
 * than as many bytes of text, and parsing blocks the thread; so they are counted first.
 */
export function hasMoreValuesThan(text: string | Uint8Array, most: number): boolean {
  if (text.length <= most) return false
  const json = typeof text === 'string' ? Buffer.from(text) : text
  let values = 0
  let isText = false
  for (let index = 0; index < json.length && values <= most; index += 1) {
    const byte = json[index]
    if (byte === quote) isText = !isText
    else if (isText) index += byte === backslash ? 1 : 0
    else if (byte === comma || byte === colon || byte === openBracket || byte === openBrace) values += 1
  }
  return values > most
}
