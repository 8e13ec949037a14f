import type { ServerResponse } from 'node:http'
import type { App } from '../app.ts'

/**
 * Max time in which a client reads nothing (ms): its connection might be dead, or it holds memory on purpose.
 * It gets up to twice that if the connection's buffers took a part first, which Node counts as progress.
 */
const timeoutMs = 120_000
/** Min characters or bytes of a large response; others cost little while they wait, or fit into buffers. */
const large = 64 * 1024

/** Ends a large response of which the client reads nothing for `timeout` milliseconds. */
export function leaveSlowReaders(app: App, timeout?: number): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload)
    const length = isWhole ? payload.length : Number(reply.getHeader('content-length') ?? 0)
    if (length > large) limitWaiting(reply.raw, timeout)
    done(null, payload)
  })
}

/** Ends the response once no part was sent for `timeout` milliseconds, even if there was none to send. */
export function limitWaiting(response: ServerResponse, timeout = timeoutMs): void {
  const leave = () => response.destroy()
  response.setTimeout(timeout, leave)
  // The connection would keep the limit, but later requests on it can be quiet for longer.
  response.prependOnceListener('finish', () => response.setTimeout(0, leave))
}
