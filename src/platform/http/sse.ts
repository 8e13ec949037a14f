import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** How often a comment line keeps an idle stream open through proxies, in milliseconds. */
const keepAliveMs = 15_000

/** Where the events of one answer go to. */
export interface EventStream {
  /** Sends a value as one server-sent event `event: message` with the value as JSON; one that can't be JSON ends the stream. */
  send(event: unknown): void
  end(): void
}

/** Answers with events, which wait for as long as the client does not read them. */
export function openEventStream(reply: FastifyReply): EventStream {
  reply.header('Content-Type', 'text/event-stream; charset=utf-8')
  reply.header('Cache-Control', 'no-cache, no-transform')
  // Asks nginx and its like not to hold events back.
  reply.header('X-Accel-Buffering', 'no')
  const { stream, ...events } = createEvents(reply.raw)
  const keepAlive = setInterval(() => reply.raw.write(': keep-alive\n\n'), keepAliveMs)
  stream.once('close', () => clearInterval(keepAlive))
  // Too late for an error answer: all that the client sees is that the connection ends.
  const { id: requestId, log } = reply.request
  stream.once('error', error => log.error({ err: error, requestId }, 'a stream of events failed'))
  void reply.send(stream)
  return events
}

/** Characters of events that are sent as one piece at most, give or take the last of them. */
const mostTogether = 16_384

/**
 * Events that come in the same turn of the event loop go out as one piece. Pieces are written past the stream that stands
 * for them, which tells only when the answer begins, ends or fails: through it each would cost twice as much.
 */
function createEvents(response: ServerResponse) {
  const waiting = createQueue()
  let hasBegun = false
  let isDue = false
  let isEnded = false

  function flush(): void {
    isDue = false
    if (!hasBegun || stream.destroyed) return
    try {
      while (waiting.size() > 0 && !response.writableNeedDrain) write(response, pieceOf(waiting))
    } catch (error) {
      stream.destroy(error as Error)
      return
    }
    if (isEnded && waiting.size() === 0) stream.push(null)
  }

  /** After all that has come already, and before anything else is waited for. */
  function flushSoon(): void {
    if (isDue) return
    isDue = true
    process.nextTick(flush)
  }

  const stream = new Readable({
    /** The headers are set once somebody reads. */
    read() {
      hasBegun = true
      flushSoon()
    },
  })
  response.on('drain', flush)
  return {
    stream,
    send(event: unknown): void {
      // Nobody is there any more.
      if (stream.destroyed) return
      waiting.add(event)
      flushSoon()
    },
    end(): void {
      isEnded = true
      flushSoon()
    },
  }
}

/** The length and the text of a piece go together at once, where the response by itself would first wait for more. */
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
