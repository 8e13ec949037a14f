import type { IncomingMessage, RequestOptions } from 'node:http'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'

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

/** Longest silence of the other side, before its answer and within it: models may think for minutes. In milliseconds. */
const silenceMs = 600_000

/**
 * Sends by Node's own client: its bodies cost a third of what those of `fetch` do, piece by piece. Only for addresses
 * that the operator has set: nothing guards it.
 */
export const sendDirectly: Send = (url, { headers, body, signal }) => {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  const post = url.startsWith('https:') ? requestHttps : requestHttp
  const options: RequestOptions = { method: 'POST', headers, timeout: silenceMs, ...(signal && { signal }) }
  const request = post(url, options, answer => resolve(replyOf(answer)))
  request.once('timeout', () => request.destroy(new Error('The other side has been silent for too long.')))
  // Stays, since a request may fail after its answer has begun; then its body fails too.
  request.on('error', reject)
  request.end(body)
  return promise
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
