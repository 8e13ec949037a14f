import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A request that is sent over and over again, as text on the wire, so that sending costs less than answering. */
export interface RepeatedRequest {
  address: string
  headers?: Record<string, string>
  /** JSON that is posted. */
  body?: string
}

export interface LoadResult {
  perSecond: number
  /** Share of the time (0 to 1) in which this process was busy: near 1 the load would be its limit, not the server's. */
  busy: number
}

/** Keeps so many connections asking, one request at a time each. */
export async function measureLoad(
  request: RepeatedRequest,
  { connections, milliseconds }: { connections: number; milliseconds: number },
): Promise<LoadResult> {
  const until = performance.now() + milliseconds
  const before = performance.eventLoopUtilization()
  const begun = performance.now()
  const counts = await Promise.all(Array.from({ length: connections }, () => askUntil(request, until)))
  const seconds = (performance.now() - begun) / 1000
  const busy = performance.eventLoopUtilization(before).utilization
  return { perSecond: counts.reduce((sum, count) => sum + count, 0) / seconds, busy }
}

/**
 * The number of answers. Those without a body in the request have all the length of the first, since their only
 * differences are times and ids.
 */
async function askUntil(request: RepeatedRequest, until: number): Promise<number> {
  const { address, body } = request
  const { hostname, port } = new URL(address)
  const text = textOf(request)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  let answers = 0
  let received: Buffer = Buffer.alloc(0)
  let length = 0
  const answer = (piece: Buffer) => {
    received = received.length === 0 ? piece : Buffer.concat([received, piece])
    length ||= lengthOf(received)
    if (length === 0 || received.length < length) return
    if (received.length > length || !isSuccess(received)) {
      reject(new Error(`${address} answered ${received.toString()}`))
      return
    }
    received = Buffer.alloc(0)
    if (body !== undefined) length = 0
    answers += 1
    if (performance.now() < until) socket.write(text)
    else resolve(answers)
  }
  socket.on('data', answer).once('error', reject)
  socket.once('close', () => reject(new Error(`${address} closed the connection`)))
  socket.write(text)
  return promise.finally(() => end(socket))
}

function textOf({ address, headers = {}, body }: RepeatedRequest): string {
  const { pathname, host } = new URL(address)
  const content =
    body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const lines = Object.entries({ host, ...headers, ...content }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  return `${body === undefined ? 'GET' : 'POST'} ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`
}

/** Bytes of an answer whose head is there; 0 before. */
function lengthOf(received: Buffer): number {
  const head = received.indexOf('\r\n\r\n')
  if (head < 0) return 0
  const [, body] = /content-length: (\d+)/i.exec(received.toString('latin1', 0, head)) ?? []
  return head + 4 + Number(body)
}

function isSuccess(received: Buffer): boolean {
  return received.toString('latin1', 9, 11) === '20'
}

function end(socket: Socket): void {
  socket.removeAllListeners()
  socket.destroy()
}
