/** A command's answer, or an event. */
export interface Message {
  id?: number
  sessionId?: string
  method?: string
  params?: Record<string, unknown>
  result?: unknown
}

/** Values in one message: each of them costs the thread that gets it. */
export const mostValues = 600_000
/** Bytes from which values are counted. */
const countedFrom = 64 * 1024

/** Of one line of a page's console; persons are shown less. */
const line = { values: 50, characters: 20_000 }

/**
 * The message, without what is too much in a line of a console; undefined for one of too many values. Also called in threads.
 * @throws SyntaxError
 */
export function parseMessage(bytes: Uint8Array): Message | undefined {
  if (bytes.length > countedFrom && hasMoreValues(bytes, mostValues)) return undefined
  const message: Message = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString())
  if (message.method === 'Runtime.consoleAPICalled') shorten(message.params?.args)
  return message
}

const [quote, backslash, comma, brace, bracket] = Buffer.from('"\\,{[')

function hasMoreValues(bytes: Uint8Array, most: number): boolean {
  let values = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === comma || byte === brace || byte === bracket) values += 1
    else if (byte === quote) at = endOfText(bytes, at)
    if (values > most) return true
  }
  return false
}

/** Where the text ends that begins there. */
function endOfText(bytes: Uint8Array, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}

function shorten(values: unknown): void {
  if (!Array.isArray(values)) return
  values.length = Math.min(values.length, line.values)
  for (const value of values)
    for (const key of ['value', 'description'])
      if (typeof value?.[key] === 'string') value[key] = value[key].slice(0, line.characters)
}
