import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Returns the signal that ends the work for a request. */
export type SignalOf = (request: FastifyRequest, reply: FastifyReply) => AbortSignal

type Callback = (isSent: boolean) => void

/** The callbacks of each pending response, in order: a listener for each of them would be too many. */
const waiting = new WeakMap<ServerResponse, Callback[]>()

/** Calls back once: when the whole response was sent, or when the client disconnected before. */
export function whenClosed({ raw }: FastifyReply, callback: Callback): void {
  const others = waiting.get(raw)
  if (raw.closed || raw.writableFinished) callback(raw.writableFinished)
  else if (others !== undefined) others.push(callback)
  else {
    waiting.set(raw, [callback])
    raw.on('finish', () => close(raw, true)).on('close', () => close(raw, false))
  }
}

function close(response: ServerResponse, isSent: boolean): void {
  const callbacks = waiting.get(response) ?? []
  waiting.delete(response)
  for (const callback of callbacks) callback(isSent)
}

/** Returns a signal that aborts when the client disconnects before it has the response. */
export function clientSignal(reply: FastifyReply): AbortSignal {
  const client = new AbortController()
  whenClosed(reply, isSent => {
    if (!isSent) client.abort()
  })
  return client.signal
}
