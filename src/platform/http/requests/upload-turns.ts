import type { IncomingMessage } from 'node:http'
import type { Server as NetServer } from 'node:net'
import { Socket } from 'node:net'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createSlots } from '../../workers/slots.ts'
import type { App } from '../app.ts'
import { whenClosed } from '../closing.ts'
import { isArriving } from './arriving.ts'

/** Uploads that are read at a time; enough to keep the processor and the disk busy. */
const atOnce = 8
/**
 * An upload gives up its slot once it brings less than this many bytes in this many milliseconds: its client is slow, and
 * nobody should wait for it, let alone for a thousand like it.
 */
const pace = { bytes: 16 * 1024, ms: 20 }
/** Milliseconds after which an upload gives up its slot in any case. */
const longestMs = 250
/** Milliseconds for which new connections take precedence over uploads. */
const arrivalMs = 1_000

/**
 * Lets a few uploads in at a time, first come first served; what the others send waits in their connections. Otherwise a
 * thousand that come at once would all be judged, read and stored in the same turn of the event loop, and everybody else
 * would wait for the work of all.
 */
export function takeUploadsInTurns(app: App): void {
  const slots = createSlots(atOnce)
  const untilQuiet = watchArrivals(app.server)

  async function takeTurn(reply: FastifyReply): Promise<void> {
    const readOn = await stopReading(reply)
    const closed = new AbortController()
    whenClosed(reply, () => closed.abort())
    const release = await slots.take(closed.signal)
    await untilQuiet()
    readOn()
    void untilSlow(reply.request.raw, closed.signal).then(release, release)
  }

  app.addHook('onRequest', (request, reply, done) => {
    if (isUpload(request)) takeTurn(reply).then(() => done(), done)
    else done()
  })
}

function isUpload({ headers, routeOptions }: FastifyRequest): boolean {
  return routeOptions.schema?.form !== undefined && /^multipart\//i.test(headers['content-type'] ?? '')
}

/**
 * Resolves when the client is slow, or at the latest after `longestMs`; rejects when the signal aborts before. A body that
 * waits to be stored, or has arrived completely, is not the client's fault.
 */
async function untilSlow(request: IncomingMessage, signal: AbortSignal): Promise<void> {
  const end = performance.now() + longestMs
  while (performance.now() < end) {
    const { bytesRead } = request.socket
    await delay(pace.ms, undefined, { signal })
    // What arrived while the event loop was busy is read first.
    await nextTurn()
    const isAwaited = !request.complete && request.readableLength === 0
    if (isAwaited && request.socket.bytesRead - bytesRead < pace.bytes) return
  }
}

/**
 * Leaves the body in its connection until the returned function is called: reading ahead would hold twice 64 KiB of each
 * body in memory. A request without more to come is read on, which shows when its client goes away.
 */
async function stopReading({ request }: FastifyReply): Promise<() => void> {
  // What came together with the headers is parsed right after the hooks have been called.
  await null
  const { socket } = request.raw
  if (!isArriving(request.raw) || !(socket instanceof Socket)) return () => {}
  socket.pause()
  return () => void socket.resume()
}

/**
 * The event loop accepts one connection per turn, so whoever is behind a thousand others waits for a thousand turns, which
 * must be short. Resolves in the first turn without a new connection, or after `arrivalMs`.
 */
export function watchArrivals(server: Pick<NetServer, 'on'>): () => Promise<void> {
  let arrived = 0
  server.on('connection', () => {
    arrived += 1
  })
  return async () => {
    const end = performance.now() + arrivalMs
    let before: number
    do {
      before = arrived
      await nextTurn()
    } while (arrived > before && performance.now() < end)
  }
}
