import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { whenClosed } from '../closing.ts'
import { limitWaiting } from './slow-readers.ts'

/** How often a comment line keeps an idle stream open through proxies, in milliseconds. */
const keepAliveMs = 15_000

/** Where the events of one answer go to. */
export interface EventStream {
  /** Sends a value as one server-sent event `event: message` with the value as JSON; one that can't be JSON ends the stream. */
  send(event: unknown): void
  end(): void
}

/**
 * Answers with events, which wait while the client does not read them; a client that reads nothing for `timeout`
 * milliseconds counts as gone.
 */
export function openEventStream(reply: FastifyReply, timeout?: number): EventStream {
  const { raw: response, request } = reply
  const queue = createEventQueue()
  // Too late for an error answer: all the client sees is that the connection ends.
  const events = Readable.from(queue.written()).once('error', error => {
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
  // A stream that has been quiet for this long has something to send, since comments are sent far more often.
  limitWaiting(response, timeout)
  reply.header('Content-Type', 'text/event-stream; charset=utf-8')
  reply.header('Cache-Control', 'no-cache, no-transform')
  // Keeps nginx and its like from holding events back.
  reply.header('X-Accel-Buffering', 'no')
  reply.send(events)
  return {
    send(event) {
      // A connection that has ended has no reader.
      if (!response.destroyed) queue.add(event)
    },
    end: queue.end,
  }
}

/** Events in the order in which they came, each written down only when it is taken. */
function createEventQueue() {
  let waiting: unknown[] = []
  let isEnded = false
  let change = Promise.withResolvers<void>()

  return {
    add(event: unknown): void {
      waiting.push(event)
      change.resolve()
    },
    end(): void {
      isEnded = true
      change.resolve()
    },
    async *written() {
      while (!isEnded || waiting.length > 0) {
        await change.promise
        const due = waiting
        waiting = []
        change = Promise.withResolvers()
        for (const event of due) yield `event: message\ndata: ${JSON.stringify(event)}\n\n`
      }
    },
  }
}
