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

/** Pulls the events no faster than they are read; by hand, since generators around generators cost each event several turns. */
function streamOf(events: AsyncIterable<unknown>): Readable {
  const iterator = events[Symbol.asyncIterator]()
  let isPulling = false
  async function pull(stream: Readable): Promise<void> {
    for (;;) {
      const { done, value } = await iterator.next()
      if (done) return void stream.push(null)
      // Told at once, not when the promise settles: the stream may ask for more before that, and asks but once.
      isPulling = stream.push(`event: message\ndata: ${JSON.stringify(value)}\n\n`)
      if (!isPulling) return
    }
  }
  return new Readable({
    read() {
      if (isPulling) return
      isPulling = true
      pull(this).catch(error => this.destroy(error))
    },
    destroy(error, callback) {
      callback(error)
      void iterator.return?.()
    },
  })
}
