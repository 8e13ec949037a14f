import type { FastifyReply, FastifyRequest } from 'fastify'

/** When to give up what is done for a request. */
export type SignalOf = (request: FastifyRequest, reply: FastifyReply) => AbortSignal

/** Calls back once: when the answer has been sent completely, or when the client has gone before that. */
export function whenClosed(reply: FastifyReply, callback: (isSent: boolean) => void): void {
  let isClosed = false
  const close = (isSent: boolean) => {
    if (isClosed) return
    isClosed = true
    callback(isSent)
  }
  if (reply.raw.closed) close(reply.raw.writableFinished)
  else reply.raw.on('finish', () => close(true)).on('close', () => close(false))
}

/** Aborts when the client goes away before it has been answered. */
export function clientSignal(reply: FastifyReply): AbortSignal {
  const client = new AbortController()
  whenClosed(reply, isSent => {
    if (!isSent) client.abort()
  })
  return client.signal
}
