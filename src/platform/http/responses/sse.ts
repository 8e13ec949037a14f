import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { whenClosed } from '../closing.ts'
import { limitWaiting } from './slow-readers.ts'

/** Interval of comment lines that keep an idle stream open through proxies (ms). */
export const keepAliveMs = 15_000

/** Characters after which a write takes no further event. */
const pieceCharacters = 16 * 1024

/** The events of one response. */
export interface EventStream {
  /**
   * Sends a value as one event, by default `event: message` with JSON; sends a text without line breaks as a
   * comment; a value that can't be JSON ends the stream.
   */
  send(event: unknown): void
  end(): void
}

/**
 * Responds with events, which wait while the client does not read them; a client that reads nothing for
 * `timeout` milliseconds counts as disconnected.
 */
export function openEventStream(
  reply: FastifyReply,
  timeout?: number,
  write: (event: unknown) => string = asMessage,
): EventStream {
  const { raw: response, request } = reply
  const queue = createEventQueue(write)
  // It is too late for an error: the client only sees the end of the connection.
  const events = queue.events.once('error', error => {
    request.log.error({ err: error, requestId: request.id }, 'a stream of events failed')
  })
  const keepAlive = setInterval(() => {
    // A client with unread data needs no sign of life.
    if (!response.writableNeedDrain && !response.writableEnded) response.write(': keep-alive\n\n')
  }, keepAliveMs)
  whenClosed(reply, () => {
    clearInterval(keepAlive)
    queue.end()
  })
  sendEvents(reply, events, timeout)
  return {
    send(event) {
      // A closed connection has no reader.
      if (!response.destroyed) queue.add(event)
    },
    end: queue.end,
  }
}

/** Sends the text of server-sent events; each one is made once the client has read those before it. */
export function sendEvents(reply: FastifyReply, events: Readable, timeout?: number): void {
  // A stream that was quiet for this long has unsent data, because comments are far more frequent.
  limitWaiting(reply.raw, timeout)
  reply.header('Content-Type', 'text/event-stream; charset=utf-8')
  reply.header('Cache-Control', 'no-cache, no-transform')
  // Keeps nginx and its like from holding events back.
  reply.header('X-Accel-Buffering', 'no')
  reply.send(events)
}

function asMessage(event: unknown): string {
  if (typeof event === 'string') return `: ${event}\n\n`
  return `event: message\ndata: ${JSON.stringify(event)}\n\n`
}

/**
 * Queues events in order. Those of one turn of the event loop are written together, in pieces that respect
 * back pressure; each is serialised only when it is taken.
 */
function createEventQueue(write: (event: unknown) => string) {
  let waiting: unknown[] = []
  let taken = 0
  let isEnded = false
  let isWanted = false
  let isScheduled = false
  const events = new Readable({
    read() {
      isWanted = true
      schedule()
    },
  })

  function schedule(): void {
    if (isScheduled || !isWanted) return
    isScheduled = true
    process.nextTick(() => {
      isScheduled = false
      try {
        writeWaiting()
      } catch (error) {
        events.destroy(error instanceof Error ? error : new Error(String(error)))
      }
    })
  }

  function writeWaiting(): void {
    while (isWanted && taken < waiting.length) isWanted = events.push(takePiece())
    if (taken < waiting.length) return
    waiting = []
    taken = 0
    if (isEnded) events.push(null)
  }

  function takePiece(): string {
    let piece = ''
    for (; taken < waiting.length && piece.length < pieceCharacters; taken += 1)
      piece += write(waiting[taken])
    return piece
  }

  return {
    events,
    add(event: unknown): void {
      waiting.push(event)
      schedule()
    },
    end(): void {
      isEnded = true
      schedule()
    },
  }
}
