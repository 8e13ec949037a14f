import { hasMoreValuesThan } from '#platform/json-values.ts'

/** A command's answer, or an event. */
export interface Message {
  id?: number
  sessionId?: string
  method?: string
  params?: Record<string, unknown>
  result?: unknown
}

/** Values in one message: each of them costs the thread that gets it. */
export const mostValues = 1_000_000

/** Of one line of a page's console; persons are shown less. */
const line = { values: 50, characters: 20_000 }

/**
 * The message, without what is too much in a line of a console; undefined for one of too many values. Also called in threads.
 * @throws SyntaxError
 */
export function parseMessage(bytes: Uint8Array): Message | undefined {
  if (hasMoreValuesThan(bytes, mostValues)) return undefined
  const message: Message = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString())
  if (message.method === 'Runtime.consoleAPICalled') shorten(message.params?.args)
  return message
}

function shorten(values: unknown): void {
  if (!Array.isArray(values)) return
  values.length = Math.min(values.length, line.values)
  for (const value of values)
    for (const key of ['value', 'description'])
      if (typeof value?.[key] === 'string') value[key] = value[key].slice(0, line.characters)
}
