import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { urlToHttpOptions } from 'node:url'
import { LRUCache } from 'lru-cache'
import { userAgent } from '#platform/user-agent.ts'

// Imported, the first would fetch `WebSocket` and the rest of undici with it, and every start would wait for them.
const { request: requestHttp } = process.getBuiltinModule('node:http')
const { request: requestHttps } = process.getBuiltinModule('node:https')

/** An answer whose body is still on its way. Whoever does not read it to its end destroys it. */
export interface Reply {
  status: number
  /** By names in lower case. */
  headers: Record<string, string>
  body: Readable
}

interface Message {
  headers: Record<string, string>
  body: string
  signal: AbortSignal | undefined
}

/** Posts a message; an answer of any status is an answer. Redirects are not followed: they are answers too, or errors. */
export type Send = (url: string, message: Message) => Promise<Reply>

/** In milliseconds. */
interface Patience {
  /** For a connection, its encryption included: a server that is there takes it at once. */
  connect: number
  /** For the other side's next word, before its answer and within it: models may think for minutes. */
  silence: number
}

const patience: Patience = { connect: 10_000, silence: 600_000 }

/** The other side has the request and says nothing: it is hardly quicker when asked the same again. */
export class Silence extends Error {}

/**
 * Sends by Node's own client: its bodies cost a third of what those of `fetch` do, piece by piece. Only for addresses
 * that the operator has set: nothing guards it.
 */
export const sendDirectly: Send = sendDirectlyWithin(patience)

export function sendDirectlyWithin({ connect, silence }: Patience): Send {
  return async (url, { headers, body, signal }) => {
    signal?.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    const address = addressOf(url)
    const isEncrypted = address.protocol === 'https:'
    const request = (isEncrypted ? requestHttps : requestHttp)({
      ...address,
      method: 'POST',
      headers: { 'user-agent': userAgent, ...headers },
      timeout: silence,
    })
    let answer: IncomingMessage | undefined
    request.once('response', response => {
      answer = response
      resolve(replyOf(response))
    })
    // Destroyed by its request, an answer would not tell why; and where it has just arrived whole, nobody would be left to
    // hear the connection's error.
    const breakOff = (reason: Error) => (answer ?? request).destroy(reason)
    request.once('timeout', () => breakOff(new Silence('The other side has been silent for too long.')))
    if (signal) followSignal(request, signal, breakOff)
    giveUpConnecting(request, isEncrypted ? 'secureConnect' : 'connect', connect)
    // Stays, since a request may fail after its answer has begun; then its body fails too.
    request.on('error', reject)
    request.end(body)
    return await promise
  }
}

/** Operators set few addresses, and each is asked for again with every question. */
const addresses = new LRUCache<string, RequestOptions>({ max: 100 })

function addressOf(url: string): RequestOptions {
  const address = addresses.get(url) ?? urlToHttpOptions(new URL(url))
  addresses.set(url, address)
  return address
}

/** What the option `signal` of requests does, at a third of the cost. */
function followSignal(request: ClientRequest, signal: AbortSignal, breakOff: (reason: Error) => void): void {
  const follow = () => breakOff(signal.reason)
  signal.addEventListener('abort', follow, { once: true })
  request.once('close', () => signal.removeEventListener('abort', follow))
}

/** A connection that is kept from an earlier request is not waited for. */
function giveUpConnecting(request: ClientRequest, connected: string, milliseconds: number): void {
  request.once('socket', socket => {
    if (!socket.connecting) return
    const timer = setTimeout(() => request.destroy(new Error('No connection came about.')), milliseconds)
    const stop = () => clearTimeout(timer)
    socket.once(connected, stop)
    request.once('close', stop)
  })
}

function replyOf(answer: IncomingMessage): Reply {
  const headers = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [name, String(value)]),
  )
  return { status: answer.statusCode ?? 0, headers, body: answer }
}

/** Sends by a `fetch`, such as the outbound guard's. */
export function sendBy(fetch: typeof globalThis.fetch): Send {
  return async (url, { headers, body, signal }) => {
    const init = { method: 'POST', headers, body, signal: signal ?? null, redirect: 'error' } as const
    const response = await fetch(url, init)
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: response.body ? Readable.fromWeb(response.body as NodeReadableStream) : Readable.from([]),
    }
  }
}
