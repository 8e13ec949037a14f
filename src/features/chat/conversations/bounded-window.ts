import type { Kysely } from 'kysely'
import type { AgentTables } from '#storage/tables.ts'
import { readWindow, type StoredMessage, type Window } from '../rows/messages.repository.ts'
import { resultSize, textOf } from '../turn/truncate-result.ts'

/** Messages read at a time: few, so that reading never delays other requests for long. */
const slice = 20

interface BoundedWindow {
  /** The messages, oldest first. */
  messages: StoredMessage[]
  /** True if reading ended because of the size, so that the window can have more messages. */
  isCut: boolean
}

interface Bounds {
  characters: number
  /** Max characters that one tool result counts for: a reader who sees no more of it has room for more messages. */
  ofResult?: number
}

/**
 * Reads the messages of a window, starting from the wanted end, until they hold this many characters, tool results
 * included; the last message can exceed it.
 */
export async function readBounded(
  database: Kysely<AgentTables>,
  window: Window,
  { characters, ofResult = Number.POSITIVE_INFINITY }: Bounds,
): Promise<BoundedWindow> {
  const isNewest = window.end === 'newest'
  /** Messages from the wanted end on. */
  const kept: StoredMessage[] = []
  const bounded = (isCut: boolean) => ({ messages: isNewest ? kept.toReversed() : kept, isCut })
  let rest = window
  let room = characters
  while (kept.length < window.limit) {
    if (room <= 0) return bounded(true)
    const limit = Math.min(slice, window.limit - kept.length)
    const found = await readWindow(database, { ...rest, limit })
    for (const message of isNewest ? found.toReversed() : found) {
      if (room <= 0) return bounded(true)
      kept.push(message)
      room -= sizeOf(message, ofResult)
    }
    const edge = kept.at(-1)
    if (edge === undefined || found.length < limit) break
    rest = isNewest ? { ...rest, before: edge.sequence } : { ...rest, after: edge.sequence }
  }
  return bounded(false)
}

function sizeOf({ content, toolCalls, toolResults }: StoredMessage, ofResult: number): number {
  const calls = toolCalls === null ? 0 : textOf(toolCalls).length
  const results = (toolResults ?? []).map(resultSize)
  return results.reduce((sum, size) => sum + Math.min(size, ofResult), content.length + calls)
}
