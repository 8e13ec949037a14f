import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { sendAtEndOfTurn } from '../../event-loop/end-of-turn.ts'
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
 * Answers with events, which wait while the client does not read them; a client that reads nothing for `patience`
 * milliseconds counts as gone. Events are written past Fastify and its streams, which would cost each answer several times
 * as much, so no `onSend` hook runs.
 */
export function openEventStream(reply: FastifyReply, patience?: number): EventStream {
  const { raw: response, request } = reply
  if (response.destroyed) {
    reply.send()
    return { send: () => {}, end: () => {} }
  }
  reply.header('Content-Type', 'text/event-stream; charset=utf-8')
  reply.header('Cache-Control', 'no-cache, no-transform')
  // Asks nginx and its like not to hold events back.
  reply.header('X-Accel-Buffering', 'no')
  // A stream that has been quiet for this long has something to send, since comments are sent far more often.
  limitWaiting(response, patience)
  response.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders)
  reply.hijack()
  const keepAlive = setInterval(() => {
    // A client may take the last events long after they were written.
    if (!response.writableEnded) response.write(': keep-alive\n\n')
  }, keepAliveMs)
  whenClosed(reply, () => clearInterval(keepAlive))
  // Too late for an error answer: all the client sees is that the connection ends.
  const fail = (error: unknown) => {
    request.log.error({ err: error, requestId: request.id }, 'a stream of events failed')
    response.destroy()
  }
  response.once('error', fail)
  return createEvents(response, fail)
}

/** How many characters of events are sent as one piece; the last event may exceed it. */
const mostTogether = 16_384

/** Events that come in the same turn of the event loop go out as one piece, and the last of them together with the end. */
function createEvents(response: ServerResponse, fail: (error: unknown) => void): EventStream {
  const waiting = createQueue()
  let isDue = false
  let isEnded = false

  function flush(): void {
    isDue = false
    if (response.destroyed || response.writableEnded) return
    try {
      while (waiting.size() > 0 && !response.writableNeedDrain) writeNext()
    } catch (error) {
      fail(error)
      return
    }
    if (isEnded && waiting.size() === 0 && !response.writableEnded) response.end()
  }

  function writeNext(): void {
    const piece = pieceOf(waiting)
    if (isEnded && waiting.size() === 0) response.end(piece)
    else write(response, piece)
  }

  function flushSoon(): void {
    if (isDue) return
    isDue = true
    sendAtEndOfTurn(flush)
  }

  response.on('drain', flush)
  return {
    send(event: unknown): void {
      // Nobody is there any more.
      if (response.destroyed) return
      waiting.add(event)
      flushSoon()
    },
    end(): void {
      isEnded = true
      flushSoon()
    },
  }
}

/** Sends the length and the text of a chunk in one go; the response by itself would first wait for more. */
function write(response: ServerResponse, piece: string): void {
  const { socket } = response
  socket?.cork()
  response.write(piece)
  socket?.uncork()
}

function pieceOf(waiting: Queue): string {
  let piece = ''
  while (waiting.size() > 0 && piece.length < mostTogether)
    piece += `event: message\ndata: ${JSON.stringify(waiting.take())}\n\n`
  return piece
}

type Queue = ReturnType<typeof createQueue>

/** First in, first out: taking from the front of a long array moves all the rest of it. */
function createQueue() {
  let items: unknown[] = []
  let taken = 0

  return {
    size: () => items.length - taken,
    add(item: unknown): void {
      items.push(item)
    },
    take(): unknown {
      const item = items[taken]
      taken += 1
      if (taken === items.length) {
        items = []
        taken = 0
      }
      return item
    },
  }
}
