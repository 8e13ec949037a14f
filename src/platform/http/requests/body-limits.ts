import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import type { App } from '../app.ts'
import { whenClosed } from '../closing.ts'
import { answerClientError, bodyStalled } from '../errors/client-error.ts'
import { retryAfterSeconds } from '../load-shedding.ts'
import { isArriving } from './arriving.ts'
import { isUpload } from './upload-limit.ts'

/** Bytes of a JSON body. Larger bodies are read only for callers who may use their route. */
export const jsonBodyLimit = 1024 * 1024
/** Bytes of all bodies of this process that are larger than that, or don't tell their length, until they have been read. */
const maxUnread = 128 * 1024 * 1024
/** Bytes that one of them counts at most: uploads are written to the disk while they arrive. */
const maxOfOne = maxUnread / 2
/** Milliseconds without a byte of a body that is awaited, after which its connection is ended. */
const stallMs = 20_000

/** A body that is arriving. */
interface Arriving {
  raw: IncomingMessage
  /** Bytes of `maxUnread` that it counts. */
  counted: number
  /** Bytes that its connection had brought, and since when it has brought no more. */
  seen: number
  since: number
}

/** Bounds the bodies that arrive, once access is decided. */
export function limitBodies(app: App, timeout = stallMs): void {
  const arriving = new Map<FastifyRequest, Arriving>()
  let unread = 0
  let watch: NodeJS.Timeout | undefined

  function count(body: Arriving, length: number): void {
    const added = Math.min(length, maxOfOne - body.counted)
    if (unread + added > maxUnread)
      throw new AppError(
        'OVERLOADED',
        `Too many large requests are arriving. Try again in ${retryAfterSeconds} s.`,
      )
    unread += added
    body.counted += added
  }

  function end(request: FastifyRequest): void {
    unread -= arriving.get(request)?.counted ?? 0
    arriving.delete(request)
  }

  function endStalled(): void {
    const now = performance.now()
    for (const body of arriving.values()) {
      const { socket, readableFlowing, readableLength } = body.raw
      const isAwaited = readableFlowing === true && readableLength === 0
      if (!isAwaited || socket.bytesRead !== body.seen)
        Object.assign(body, { seen: socket.bytesRead, since: now })
      else if (now - body.since >= timeout) answerClientError(bodyStalled, socket)
    }
    if (arriving.size > 0) return
    clearInterval(watch)
    watch = undefined
  }

  app.addHook('preParsing', (request, reply, payload, done) => {
    const { raw } = request
    if (!isArriving(raw)) return done(null, payload)
    const body = { raw, counted: 0, seen: -1, since: 0 }
    const length = lengthOf(request)
    try {
      // Their payment is proven only when the body is known.
      if (request.gate !== undefined && isUpload(request) && !isSmall(request))
        throw tooLarge('Callers who pay for a call')
      if (length > jsonBodyLimit && length < Number.POSITIVE_INFINITY) count(body, length)
    } catch (error) {
      return done(error as Error)
    }
    arriving.set(request, body)
    watch ??= setInterval(endStalled, Math.min(1000, timeout / 4)).unref()
    if (length === Number.POSITIVE_INFINITY)
      onData(raw, bytes => {
        if (arriving.has(request)) count(body, bytes)
      })
    whenClosed(reply, () => end(request))
    if (isUpload(request)) raw.once('close', () => end(request))
    done(null, payload)
  })
  app.addHook('preValidation', (request, _reply, done) => {
    if (!isUpload(request)) end(request)
    done()
  })
}

/** Bytes of a body; infinitely many if it does not tell. */
function lengthOf({ headers }: FastifyRequest): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Infinity
}

/** Whether its body is known to be no larger than `jsonBodyLimit`. */
export function isSmall(request: FastifyRequest): boolean {
  return lengthOf(request) <= jsonBodyLimit
}

/** @param who the callers whose larger bodies are not read */
export function tooLarge(who: string): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `${who} may send 1 MiB at most, with a Content-Length.`)
}

/** Observes a body beside the one who reads it. What `observe` throws ends the body. */
function onData(raw: IncomingMessage, observe: (bytes: number) => void): void {
  raw.on('newListener', function join(event) {
    if (event !== 'data') return
    raw.off('newListener', join)
    raw.on('data', function onPart(part: Buffer) {
      try {
        observe(part.length)
      } catch (error) {
        raw.off('data', onPart).emit('error', error)
      }
    })
  })
}
