import { hasMoreValuesThan } from '#platform/json-values.ts'

/** A command's result, or an event. */
export interface Message {
  id?: number
  sessionId?: string
  method?: string
  params?: Record<string, unknown>
  result?: unknown
}

/** Max values in one message: each value costs time in the receiving thread. */
export const mostValues = 1_000_000

/** Limits of one console line of a page; people see less. */
const line = { values: 50, characters: 20_000 }

/**
 * Parses a message, and shortens console lines; undefined for too many values. Also runs in threads.
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
