/** A client of streamed answers, over a real connection. */
import { expect } from 'vitest'

export interface SentEvent {
  type: string
  [field: string]: unknown
}

export interface OpenStream {
  status: number
  headers: Headers
  /** Every character received so far. */
  received(): string
  /** The events up to and including the next of this type; fails if the stream ends before it. */
  until(type: string): Promise<SentEvent[]>
  /** All events that are left, once the stream has ended. */
  rest(): Promise<SentEvent[]>
  /** Goes away, as a person who closes the page does. */
  close(): void
}

/** Posts the body and reads the events that come back; each must have the exact form of the wire. */
export async function openStream(
  url: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<OpenStream> {
  const connection = new AbortController()
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...body, stream: true }),
    signal: connection.signal,
  })
  const pieces = response.body?.pipeThrough(new TextDecoderStream()).values()
  let received = ''
  let read = 0

  /** The next event, or undefined at the end. */
  async function next(): Promise<SentEvent | undefined> {
    for (;;) {
      const end = received.indexOf('\n\n', read)
      if (end >= 0) {
        const text = received.slice(read, end)
        read = end + 2
        return eventOf(text)
      }
      const piece = await pieces?.next()
      if (piece === undefined || piece.done) return undefined
      received += piece.value
    }
  }

  return {
    status: response.status,
    headers: response.headers,
    received: () => received,
    async until(type) {
      const events: SentEvent[] = []
      while (events.at(-1)?.type !== type) {
        const event = await next()
        if (event === undefined) throw new Error(`The stream ended before ${type}: ${received}`)
        events.push(event)
      }
      return events
    },
    async rest() {
      const events: SentEvent[] = []
      for (let event = await next(); event !== undefined; event = await next()) events.push(event)
      expect(received.slice(read), 'what stands after the last event').toBe('')
      return events
    },
    close: () => connection.abort(),
  }
}

function eventOf(text: string): SentEvent {
  const [, json] = /^event: message\ndata: (\{.*\})$/.exec(text) ?? []
  if (json === undefined) throw new Error(`This is no event: ${JSON.stringify(text)}`)
  return JSON.parse(json)
}
