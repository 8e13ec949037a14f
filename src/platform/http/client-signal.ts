import type { FastifyReply } from 'fastify'

/** Aborts when the client goes away before it has been answered. */
export function clientSignal({ raw }: FastifyReply): AbortSignal {
  const client = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) client.abort()
  })
  return client.signal
}
