import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** How often a comment line keeps an idle stream open through proxies, in milliseconds. */
const keepAliveMs = 15_000

/**
 * Sends each value as one server-sent event `event: message` with the value as JSON. When the client goes away the
 * iterator's `return` is called, so that a generator's `finally` sees it.
 */
export function sendEvents(reply: FastifyReply, events: AsyncIterable<unknown>): FastifyReply {
  reply.header('Content-Type', 'text/event-stream; charset=utf-8')
  reply.header('Cache-Control', 'no-cache, no-transform')
  // Asks nginx and its like not to hold events back.
  reply.header('X-Accel-Buffering', 'no')
  const stream = streamOf(events)
  const keepAlive = setInterval(() => reply.raw.write(': keep-alive\n\n'), keepAliveMs)
  stream.once('close', () => clearInterval(keepAlive))
  // Too late for an error answer: all that the client sees is that the connection ends.
  const { id: requestId, log } = reply.request
  stream.once('error', error => log.error({ err: error, requestId }, 'a stream of events failed'))
  return reply.send(stream)
}

/** Characters of events that may wait for the end of a turn of the event loop, to be sent together. */
const mostWaiting = 16_384

/**
 * Pulls the events no faster than they are read; by hand, since generators around generators cost each event several
 * turns. Events that come in the same turn of the event loop go out as one piece.
 */
function streamOf(events: AsyncIterable<unknown>): Readable {
  const iterator = events[Symbol.asyncIterator]()
  let waiting = ''
  let isWanted = false
  let isPulling = false

  function flush(stream: Readable): void {
    if (waiting === '') return
    const piece = waiting
    waiting = ''
    // Before the push, since the stream may ask for more during it.
    isWanted = false
    if (stream.push(piece)) isWanted = true
  }

  function add(value: unknown, stream: Readable): void {
    // After all that has come already, and before anything else is waited for.
    if (waiting === '') process.nextTick(flush, stream)
    waiting += `event: message\ndata: ${JSON.stringify(value)}\n\n`
    if (waiting.length > mostWaiting) flush(stream)
  }

  async function pull(stream: Readable): Promise<void> {
    while (isWanted) {
      const { done, value } = await iterator.next()
      if (done) {
        flush(stream)
        stream.push(null)
        return
      }
      add(value, stream)
    }
    isPulling = false
  }

  return new Readable({
    read() {
      isWanted = true
      if (isPulling) return
      isPulling = true
      pull(this).catch(error => {
        flush(this)
        this.destroy(error)
      })
    },
    destroy(error, callback) {
      callback(error)
      void iterator.return?.()
    },
  })
}
