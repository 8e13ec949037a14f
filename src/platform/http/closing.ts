import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** When to give up what is done for a request. */
export type SignalOf = (request: FastifyRequest, reply: FastifyReply) => AbortSignal

type Callback = (isSent: boolean) => void

/** Of each answer under way, in order: listeners of its own for each of them would be too many. */
const waiting = new WeakMap<ServerResponse, Callback[]>()

/** Calls back once: when the answer has been sent completely, or when the client has gone before that. */
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

/** Aborts when the client goes away before it has been answered. */
export function clientSignal(reply: FastifyReply): AbortSignal {
  const client = new AbortController()
  whenClosed(reply, isSent => {
    if (!isSent) client.abort()
  })
  return client.signal
}
