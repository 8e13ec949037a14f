import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '#platform/errors.ts'
import { attachment, sandboxed } from './headers.ts'
import { limitWaiting } from './slow-readers.ts'

interface File {
  name: string
  /** Size in bytes. */
  size: number
  /** Reads a range, whose `end` is exclusive. */
  read(range: { start: number; end: number }): AsyncIterable<Uint8Array>
}

/** Sends a file for saving, or the part of it that the header `Range` names. */
export function sendFile(request: FastifyRequest, reply: FastifyReply, { name, size, read }: File): void {
  const wanted = wantedRange(request.headers.range, size)
  const range = wanted ?? { start: 0, end: size }
  if (range.start >= range.end && wanted !== undefined) {
    reply.header('content-range', `bytes */${size}`)
    throw new AppError('RANGE_NOT_SATISFIABLE', `The file has ${size} bytes, none of which are in the range.`)
  }
  reply.headers({
    ...sandboxed,
    'content-type': 'application/octet-stream',
    'content-disposition': attachment(name),
    'accept-ranges': 'bytes',
    'content-length': range.end - range.start,
  })
  if (wanted !== undefined)
    reply.code(206).header('content-range', `bytes ${range.start}-${range.end - 1}/${size}`)
  limitWaiting(reply.raw)
  reply.send(Readable.from(request.method === 'HEAD' ? [] : read(range), { objectMode: false }))
}

/** Returns undefined for the whole: without a range, with several or an unreadable one (RFC 9110, 14.2). */
function wantedRange(header: string | undefined, size: number) {
  const [, from, to] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined
  if (from === '') return { start: Math.max(0, size - Number(to)), end: size }
  if (to !== '' && Number(to) < Number(from)) return undefined
  return { start: Number(from), end: to === '' ? size : Math.min(size, Number(to) + 1) }
}
