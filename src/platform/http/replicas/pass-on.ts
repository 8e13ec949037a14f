import { type IncomingMessage, request as sendPlainly } from 'node:http'
import { request as sendSecurely } from 'node:https'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { whenClosed } from '../closing.ts'
import { signatureHeader } from './signed-requests.ts'

export interface Destination {
  /** The address of the other process, without a slash at the end. */
  url: string
  signature: string
}

/** Thrown if the other process has not answered. */
export class NoAnswer extends Error {
  /** True if the process was reached, so that it might have served the request. */
  readonly wasReached: boolean
  constructor(cause: Error, wasReached: boolean) {
    super(cause.message, { cause })
    this.wasReached = wasReached
  }
}

/** Milliseconds. */
const connectMs = 5000
/** Silence after which the system probes for up to 10 s if the other machine is alive (ms). */
const probeAfterMs = 5000

/** Headers about one connection, which are not passed on, or are written again. */
const ofConnection = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-connection',
  'upgrade',
  'x-request-id',
  signatureHeader,
])

/**
 * Passes a request, also of a WebSocket, to another process of the service: bytes go both ways as they come.
 * Resolves once there is a response, which is then sent; a WebSocket's comes with the client's connection.
 * @throws NoAnswer
 */
export function passOn(
  request: FastifyRequest,
  reply: FastifyReply,
  body: Readable,
  { url, signature }: Destination,
): Promise<Socket | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket | undefined>()
  const { protocol, hostname, port, pathname } = new URL(url)
  const { raw } = request
  let wasReached = false
  const onward = (protocol === 'https:' ? sendSecurely : sendPlainly)({
    agent: false,
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port,
    method: raw.method ?? 'GET',
    path: `${pathname.replace(/\/$/, '')}${raw.url}`,
    headers: [...onwardHeaders(request), signatureHeader, signature],
    setHost: false,
    // The name of the other process, if it differs from the header `Host`.
    servername: hostname,
  })
  onward.on('socket', socket => {
    socket.setKeepAlive(true, probeAfterMs)
    const late = () => onward.destroy(new Error(`There was no connection within ${connectMs} ms.`))
    const timer = setTimeout(late, connectMs)
    socket.once('close', () => clearTimeout(timer))
    socket.once('connect', () => {
      wasReached = true
      clearTimeout(timer)
    })
  })
  onward.on('response', back => {
    resolve(undefined)
    const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...headers } = back.headers
    void reply
      .code(back.statusCode ?? 500)
      .headers(headers)
      .send(back)
  })
  onward.on('upgrade', (back, socket, head) => {
    resolve(raw.socket)
    reply.hijack()
    joinSockets(raw.socket, socket as Socket, Buffer.concat([headOf(back), head]))
  })
  // A disconnected client waits for no response.
  onward.on('error', error =>
    reply.raw.destroyed ? resolve(undefined) : reject(new NoAnswer(error, wasReached)),
  )
  // Unread data would block the next request of the connection.
  onward.on('close', () => body.resume())
  whenClosed(reply, () => onward.destroy())
  if (hasBody(raw)) body.pipe(onward)
  else onward.end()
  return promise
}

/** Returns the headers in their order, as pairs in one list. */
function onwardHeaders({ id, ws: isWebSocket, raw }: FastifyRequest): string[] {
  const { rawHeaders } = raw
  const pairs = rawHeaders.filter(
    (_, at) => !ofConnection.has(rawHeaders[at - (at % 2)]?.toLowerCase() ?? ''),
  )
  // Node would announce a body unless a header excludes one.
  const isEmpty = raw.method === 'POST' && !hasBody(raw) && raw.headers['content-length'] === undefined
  return [
    ...pairs,
    ...['x-request-id', id],
    ...(isEmpty ? ['content-length', '0'] : []),
    ...(isWebSocket ? ['connection', 'Upgrade', 'upgrade', 'websocket'] : []),
  ].map(String)
}

function hasBody({ headers }: IncomingMessage): boolean {
  return 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0
}

/** Returns the lines of a response, up to its body. */
function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`]
  for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

/** Joins two sockets: each waits if the other is slow, and ends with it. */
function joinSockets(client: Socket, other: Socket, first: Buffer): void {
  client.setNoDelay(true).setKeepAlive(true, probeAfterMs)
  other.setNoDelay(true)
  client.write(first)
  client.pipe(other).pipe(client)
  other.on('error', () => other.destroy()).on('close', () => client.destroySoon())
  client.on('close', () => other.destroySoon())
}
