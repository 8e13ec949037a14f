import type { IncomingMessage, Server } from 'node:http'
import type { Server as NetServer } from 'node:net'
import { Socket } from 'node:net'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { createSlots } from '../../workers/slots.ts'
import { clientSignal } from '../closing.ts'
import { isArriving } from './arriving.ts'

/** Runs `work`, which reads the request's body, when it is its turn; rejects if the client goes away before. */
export type TakeTurn = <Result>(reply: FastifyReply, work: () => Promise<Result>) => Promise<Result>

/** Uploads that are read at a time; enough to keep the processor and the disk busy. */
const atOnce = 8
/**
 * An upload gives up its slot once it brings less than this many bytes in this many milliseconds: its client is slow, and
 * nobody should wait for it, let alone for a thousand like it.
 */
const pace = { bytes: 16 * 1024, ms: 20 }
/** Milliseconds after which an upload gives up its slot in any case. */
const longestMs = 250
/** If this many uploads have waited at a time, their garbage is collected when the last of them has had its turn. */
const crowd = 100
const thorough = { type: 'major', execution: 'async', flavor: 'last-resort' } as const
/** Milliseconds for which new connections take precedence over uploads. */
const arrivalMs = 1_000

/**
 * Lets a few uploads in at a time, first come first served; what the others send waits in their connections. Otherwise a
 * thousand that come at once would all be read, parsed and stored in the same turn of the event loop, and everybody else
 * would wait for the work of all.
 */
export function createUploadTurns(server: Server): TakeTurn {
  const slots = createSlots(atOnce)
  const untilQuiet = watchArrivals(server)
  const crowds = watchCrowds()
  return async (reply, work) => {
    const readOn = stopReading(reply)
    const release = await crowds.during(slots.take(clientSignal(reply)))
    const turn = new AbortController()
    try {
      await untilQuiet()
      readOn()
      void untilSlow(reply.request.raw, turn.signal).then(release, release)
      return await work()
    } finally {
      turn.abort()
    }
  }
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
 * Requests that waited together lived long enough to be promoted, and a young generation that has grown for them shrinks
 * only in such a collection. By itself that would happen minutes later, on top of what reading the files takes.
 */
function watchCrowds() {
  let waiting = 0
  let most = 0
  return {
    async during<Result>(wait: Promise<Result>): Promise<Result> {
      waiting += 1
      most = Math.max(most, waiting)
      try {
        return await wait
      } finally {
        waiting -= 1
        if (waiting === 0 && most >= crowd) void globalThis.gc?.(thorough)
        if (waiting === 0) most = 0
      }
    },
  }
}

/**
 * Leaves the body in its connection until the returned function is called: reading ahead would hold twice 64 KiB of each
 * body in memory. A request without more to come is read on, which shows when its client goes away.
 */
function stopReading({ request }: FastifyReply): () => void {
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
