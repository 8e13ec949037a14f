import type { IncomingHttpHeaders } from 'node:http'
import type { Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'
import type { Dispatcher } from 'undici'

type Handler = Dispatcher.DispatchHandler
type Controller = Dispatcher.DispatchController
type CreateDecoder = (firstByte: number) => Transform

/** Passes on arriving data at once, which streams of events need. */
const gzip = { flush: constants.Z_SYNC_FLUSH }
const brotli = { flush: constants.BROTLI_OPERATION_FLUSH }
/** The largest window that content codings may have (RFC 9659). */
const zstd = { params: { [constants.ZSTD_d_windowLogMax]: 23 } }

/** Decoders by content coding, for a body that begins with this byte. */
const decoders = new Map<string, CreateDecoder>([
  ['gzip', () => createGunzip(gzip)],
  ['x-gzip', () => createGunzip(gzip)],
  // Some servers leave out the header of zlib, which the standard requires.
  ['deflate', firstByte => ((firstByte & 0x0f) === 0x08 ? createInflate(gzip) : createInflateRaw(gzip))],
  ['br', () => createBrotliDecompress(brotli)],
  ['zstd', () => createZstdDecompress(zstd)],
])

/**
 * Decompresses bodies before `fetch`, which would take an incomplete body for a whole one: here that is an
 * error. A body that was compressed more than once, or in an unknown way, is left to `fetch`.
 */
export const decompressStrictly: Dispatcher.DispatcherComposeInterceptor = dispatch => (options, handler) =>
  dispatch(options, decompressing(handler))

function decompressing(handler: Handler): Handler {
  let create: CreateDecoder | undefined
  let decoder: Transform | undefined
  let own: Controller
  let isReceived = false
  let isSettled = false

  function fail(controller: Controller, error: Error): void {
    if (isSettled) return
    isSettled = true
    decoder?.destroy()
    handler.onResponseError?.(controller, error)
  }

  /** Aborts the request, or fails its received response, which can't be aborted any more. */
  function abort(controller: Controller, reason: Error): void {
    if (isReceived) fail(controller, reason)
    else controller.abort(reason)
  }

  function open(controller: Controller, createDecoder: CreateDecoder, firstByte: number): Transform {
    return createDecoder(firstByte)
      .on('data', piece => handler.onResponseData?.(own, piece))
      .on('drain', () => controller.resume())
      .on('error', error => abort(controller, error))
      .on('end', () => {
        isSettled = true
        decoder?.destroy()
        handler.onResponseEnd?.(own, {})
        // A decoder reads nothing behind its end: the connection would wait for that for ever.
        if (!isReceived) controller.abort(new Error('There is more than the compressed body.'))
      })
  }

  return {
    onRequestStart(controller, context) {
      own = {
        get aborted() {
          return controller.aborted
        },
        get paused() {
          return decoder?.isPaused() ?? controller.paused
        },
        get reason() {
          return controller.reason
        },
        get rawHeaders() {
          return controller.rawHeaders ?? null
        },
        pause: () => (decoder ?? controller).pause(),
        resume: () => (decoder ?? controller).resume(),
        abort: reason => abort(controller, reason),
      }
      handler.onRequestStart?.(own, context)
    },
    onRequestUpgrade: (_controller, ...upgrade) => handler.onRequestUpgrade?.(own, ...upgrade),
    onResponseStarted: () => handler.onResponseStarted?.(),
    onResponseStart(controller, status, headers, message) {
      create = decoders.get(codingOf(headers))
      if (create !== undefined) controller.rawHeaders = withoutCoding(controller.rawHeaders ?? null)
      handler.onResponseStart?.(own, status, headers, message)
    },
    onResponseData(controller, chunk) {
      if (create === undefined) return handler.onResponseData?.(own, chunk)
      decoder ??= open(controller, create, chunk[0] ?? 0)
      if (!decoder.write(chunk)) controller.pause()
    },
    onResponseEnd(_controller, trailers) {
      isReceived = true
      if (decoder === undefined) handler.onResponseEnd?.(own, trailers)
      else decoder.end()
    },
    onResponseError: (controller, error) => fail(controller, error),
  }
}

function codingOf(headers: IncomingHttpHeaders): string {
  return String(headers['content-encoding'] ?? '')
    .toLowerCase()
    .trim()
}

type RawHeaders = NonNullable<Controller['rawHeaders']> | null

/** Removes the content coding; names and values alternate in raw headers. */
function withoutCoding(headers: RawHeaders): RawHeaders {
  if (!Array.isArray(headers)) return headers
  const isCoding = (at: number) => headers[at]?.toString().toLowerCase() === 'content-encoding'
  return headers.filter((_, at) => !isCoding(at - (at % 2))) as Buffer[] | string[]
}
