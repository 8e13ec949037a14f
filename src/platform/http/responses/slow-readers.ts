import type { ServerResponse } from 'node:http'
import type { App } from '../app.ts'

/**
 * How long a client may read nothing of what waits for it, in milliseconds: its connection may be dead, or it may hold
 * memory on purpose. It gets up to twice as long where the connection's buffers took a part of it at first, which Node
 * counts as progress.
 */
const timeoutMs = 120_000
/** Characters or bytes of an answer; what is shorter costs little while it waits, and mostly fits into the connection's buffers. */
const large = 64 * 1024

/** Has a client that reads nothing of a large answer for `timeout` milliseconds count as gone. */
export function leaveSlowReaders(app: App, timeout?: number): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload)
    const length = isWhole ? payload.length : Number(reply.getHeader('content-length') ?? 0)
    if (length > large) limitWaiting(reply.raw, timeout)
    done(null, payload)
  })
}

/** Ends the answer once nothing of it could be sent for `timeout` milliseconds, be it because there was nothing to send. */
export function limitWaiting(response: ServerResponse, timeout = timeoutMs): void {
  const leave = () => response.destroy()
  response.setTimeout(timeout, leave)
  // The connection would keep the limit, but requests that follow on it may be quiet for longer.
  response.prependOnceListener('finish', () => response.setTimeout(0, leave))
}
