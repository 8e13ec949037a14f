import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { whenClosed } from '../closing.ts'
import { limitWaiting } from './slow-readers.ts'

/** How often a comment line keeps an idle stream open through proxies, in milliseconds. */
export const keepAliveMs = 15_000

/** Characters after which a write takes no further event. */
const pieceCharacters = 16 * 1024

/** Where the events of one answer go to. */
export interface EventStream {
  /**
   * Sends a value as one event, by default `event: message` with the value as JSON, and a text without line breaks as a comment;
   * one that can't be JSON ends the stream.
   */
  send(event: unknown): void
  end(): void
}

/**
 * Answers with events, which wait while the client does not read them; a client that reads nothing for `timeout`
 * milliseconds counts as gone.
 */
export function openEventStream(
  reply: FastifyReply,
  timeout?: number,
  write: (event: unknown) => string = asMessage,
): EventStream {
  const { raw: response, request } = reply
  const queue = createEventQueue(write)
  // Too late for an error answer: all the client sees is that the connection ends.
  const events = queue.events.once('error', error => {
    request.log.error({ err: error, requestId: request.id }, 'a stream of events failed')
  })
  const keepAlive = setInterval(() => {
    // A client that has yet to read what was sent needs no sign of life.
    if (!response.writableNeedDrain && !response.writableEnded) response.write(': keep-alive\n\n')
  }, keepAliveMs)
  whenClosed(reply, () => {
    clearInterval(keepAlive)
    queue.end()
  })
  sendEvents(reply, events, timeout)
  return {
    send(event) {
      // A connection that has ended has no reader.
      if (!response.destroyed) queue.add(event)
    },
    end: queue.end,
  }
}

/** Answers with the text of server-sent events, each of which is made once the client has read those before it. */
export function sendEvents(reply: FastifyReply, events: Readable, timeout?: number): void {
  // A stream that has been quiet for this long has something to send, since comments are sent far more often.
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
 * Events in the order in which they came. Those of one turn of the event loop go out in one write, in pieces that leave back
 * pressure its say; each is written down only when it is taken.
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
