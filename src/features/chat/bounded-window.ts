import type { Kysely } from 'kysely'
import type { AgentTables } from '#storage/tables.ts'
import type { StoredMessage, Window } from './messages.repository.ts'
import { readWindow } from './messages.repository.ts'
import { textOf } from './turn/truncate-result.ts'

/** Messages read at a time: few enough that reading them never holds up others for long. */
const slice = 20

interface BoundedWindow {
  /** Oldest first. */
  messages: StoredMessage[]
  /** Whether reading ended because of the size, so that the window may hold more. */
  isCut: boolean
}

interface Bounds {
  characters: number
  /** The most that one tool result counts, in characters: a reader who sees no more of it has room for more messages. */
  ofResult?: number
}

/**
 * Reads the messages of a window, starting from the wanted end, until they hold this many characters, tool results
 * included.
 */
export async function readBounded(
  database: Kysely<AgentTables>,
  window: Window,
  { characters, ofResult = Number.POSITIVE_INFINITY }: Bounds,
): Promise<BoundedWindow> {
  const isNewest = window.end === 'newest'
  const messages: StoredMessage[] = []
  let rest = window
  let read = 0
  while (messages.length < window.limit) {
    if (read >= characters) return { messages, isCut: true }
    const limit = Math.min(slice, window.limit - messages.length)
    const found = await readWindow(database, { ...rest, limit })
    messages.splice(isNewest ? 0 : messages.length, 0, ...found)
    read += found.reduce((sum, message) => sum + sizeOf(message, ofResult), 0)
    const edge = isNewest ? found[0] : found.at(-1)
    if (edge === undefined || found.length < limit) break
    rest = isNewest ? { ...rest, before: edge.sequence } : { ...rest, after: edge.sequence }
  }
  return { messages, isCut: false }
}

function sizeOf({ content, toolCalls, toolResults }: StoredMessage, ofResult: number): number {
  const calls = toolCalls === null ? 0 : textOf(toolCalls).length
  const results = (toolResults ?? []).map(({ result, error }) => textOf(error ?? result).length)
  return results.reduce((sum, size) => sum + Math.min(size, ofResult), content.length + calls)
}
