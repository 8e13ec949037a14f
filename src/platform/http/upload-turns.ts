import type { IncomingMessage, Server } from 'node:http'
import type { Server as NetServer } from 'node:net'
import { Socket } from 'node:net'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { createSlots } from '../workers/slots.ts'
import { isArriving } from './arriving.ts'
import { clientSignal } from './closing.ts'

/** Does `work`, which reads the request's body, when it is its turn; rejects when the client goes away before. */
export type TakeTurn = <Result>(reply: FastifyReply, work: () => Promise<Result>) => Promise<Result>

/** Uploads that are read at a time; enough for the processor and the disk to be busy. */
const atOnce = 8
/**
 * An upload counts no more once it brings less than so many bytes in so many milliseconds: its client is slow, and nobody is
 * to wait for that, least of all for a thousand of them.
 */
const pace = { bytes: 16 * 1024, ms: 20 }
/** Milliseconds after which an upload counts no more in any case. */
const longestMs = 250
/** Uploads that wait at a time, from which on what they leave behind is collected when the last of them has had its turn. */
const crowd = 100
const thorough = { type: 'major', execution: 'async', flavor: 'last-resort' } as const
/** Milliseconds for which new connections go before uploads. */
const arrivalMs = 1_000

/**
 * Lets a few uploads in at a time, first come first served; what the others send waits in their connections. A thousand that
 * come at once would otherwise all be read, parsed and stored in the same turn of the event loop, and everybody else, too,
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

/** Rejects when the signal aborts before. What waits to be stored, or has arrived to its end, is no fault of its client. */
async function untilSlow(request: IncomingMessage, signal: AbortSignal): Promise<void> {
  const end = performance.now() + longestMs
  while (performance.now() < end) {
    const { bytesRead } = request.socket
    await delay(pace.ms, undefined, { signal })
    // What has arrived while the event loop was busy is read before it comes here.
    await nextTurn()
    const isAwaited = !request.complete && request.readableLength === 0
    if (isAwaited && request.socket.bytesRead - bytesRead < pace.bytes) return
  }
}

/**
 * Requests that waited together were kept long enough to count as what is there to stay, and a young heap that has grown for
 * them shrinks in such a collection only: by itself that would happen minutes later, on top of what reading the files takes.
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
 * What a body holds is left in its connection, until the function that this gives is called: what is read ahead, twice 64 KiB of
 * each, would be held in memory. A request without more to come is read on, which tells when its client goes away.
 */
function stopReading({ request }: FastifyReply): () => void {
  const { socket } = request.raw
  if (!isArriving(request.raw) || !(socket instanceof Socket)) return () => {}
  socket.pause()
  return () => void socket.resume()
}

/**
 * The event loop accepts one connection in each of its turns, so that whoever is behind a thousand others waits for a thousand
 * turns: these are to be short. Resolves in a turn without a new connection, or when that has not been for some time.
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
