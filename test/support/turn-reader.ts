/** Readers of turns in the background: they come back where their connection was cut, as EventSource does. */
import type { SentEvent } from './open-stream.ts'

export interface ReadTurn {
  events: SentEvent[]
  /** In the order of their coming. */
  ids: string[]
  /** The text of the answer, as a reader has it in the end. */
  text: string
}

interface Options {
  headers?: Record<string, string>
  /** Bytes after which the next connection is cut; undefined if it is not. */
  cutAfter?(): number | undefined
  /** Milliseconds until a server that can't be reached is tried again. */
  retryMs?: number
  /** Id of the last event that an earlier reading had. */
  after?: string
}

/** Reads a turn to its end. @param url gives the address of the events, each time anew. */
export async function readTurn(url: () => string, options: Options = {}): Promise<ReadTurn> {
  const { headers = {}, cutAfter, retryMs = 50 } = options
  const events: SentEvent[] = []
  const ids: string[] = []
  let last = options.after
  for (;;) {
    const connection = new AbortController()
    const response = await fetch(url(), {
      headers: { ...headers, ...(last !== undefined && { 'last-event-id': last }) },
      signal: connection.signal,
    }).catch(() => undefined)
    if (response?.status === 204) break
    if (response === undefined || response.status >= 500) {
      await new Promise(resolve => setTimeout(resolve, retryMs))
      continue
    }
    if (response.status !== 200) throw new Error(`the events are answered with ${response.status}`)
    const text = await receive(response, connection, cutAfter?.())
    const whole = text.slice(0, text.lastIndexOf('\n\n') + 2)
    for (const block of whole.split('\n\n')) {
      const id = /^id: (.*)$/m.exec(block)?.[1]
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (data === undefined) continue
      if (id !== undefined) {
        last = id
        ids.push(id)
      }
      events.push(JSON.parse(data))
    }
  }
  return { events, ids, text: textOf(events) }
}

/** What a reader makes of the events. */
export function textOf(events: readonly SentEvent[]): string {
  let text = ''
  for (const { type, delta, content } of events) {
    if (type === 'content_delta') text += String(delta)
    if (type === 'content_replaced' || type === 'content_reset') text = String(content)
  }
  return text
}

/** What arrives before the connection is cut, after so many bytes or by itself. */
async function receive(response: Response, connection: AbortController, room = Number.POSITIVE_INFINITY) {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  try {
    for await (const piece of response.body ?? []) {
      const kept = piece.subarray(0, Math.max(0, room - bytes))
      bytes += piece.length
      text += decoder.decode(kept, { stream: true })
      if (kept.length < piece.length) connection.abort()
    }
  } catch {
    // What has come counts.
  }
  return text
}
