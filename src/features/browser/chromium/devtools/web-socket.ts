import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Duplex } from 'node:stream'
import { readBody } from '#platform/outbound/response-body.ts'
import type { Wire } from './connection.ts'
import type { Frame, Framer } from './framing.ts'

/** Bytes of an answer that names the address of the socket. */
const longestAnswer = 64 * 1024
const opcodes = { text: 1, close: 8, ping: 9, pong: 10 }

/**
 * Opens a connection to a browser elsewhere. Messages are read in the pieces in which they come, which no library does: each
 * would keep a message of any size until it is whole, or give the connection up.
 * @param url of its DevTools, or of the socket itself; may hold credentials
 */
export async function openWebSocket(url: string, signal: AbortSignal): Promise<Wire> {
  const address = new URL(url)
  if (/^wss?:$/.test(address.protocol)) return await shakeHands(address, signal)
  const version = new URL(address)
  version.pathname = `${address.pathname.replace(/\/$/, '')}/json/version/`
  const [answer] = await ask(version, {}, signal)
  const body = await readBody(answer, longestAnswer)
  const { webSocketDebuggerUrl } = JSON.parse(Buffer.from(body ?? []).toString())
  const socket = new URL(webSocketDebuggerUrl)
  if (socket.host === address.host && socket.username === '')
    Object.assign(socket, { username: address.username, password: address.password })
  return await shakeHands(socket, signal)
}

async function shakeHands(address: URL, signal: AbortSignal): Promise<Wire> {
  const key = randomBytes(16).toString('base64')
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const [answer, socket] = await ask(address, { ...upgrade, 'sec-websocket-key': key }, signal)
  const proof = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  if (socket !== undefined && answer.headers['sec-websocket-accept'] === proof) return wireOf(socket)
  answer.destroy()
  throw new Error(`it answered ${answer.statusCode} where a WebSocket was to be opened`)
}

/** The answer, and the socket if that is what it gives; redirections are followed. */
async function ask(
  address: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
  redirections = 3,
): Promise<[IncomingMessage, Duplex | undefined]> {
  const target = new URL(address)
  target.protocol = address.protocol.replace(/^ws/, 'http')
  const request = target.protocol === 'https:' ? requestHttps : requestHttp
  const answered = Promise.withResolvers<[IncomingMessage, Duplex | undefined]>()
  const sent = request(target, { headers, signal, agent: false })
  sent.on('error', answered.reject).on('response', answer => answered.resolve([answer, undefined]))
  sent.on('upgrade', (answer, socket, head) => {
    if (head.length > 0) socket.unshift(head)
    answered.resolve([answer, socket])
  })
  sent.end()
  const [answer, socket] = await answered.promise
  const { location } = answer.headers
  if (location === undefined || redirections === 0) return [answer, socket]
  answer.destroy()
  return await ask(new URL(location, target), headers, signal, redirections - 1)
}

/** Messages in the frames of a WebSocket (RFC 6455), as a client sends and gets them. */
function wireOf(socket: Duplex): Wire {
  const send = (opcode: number, content: Buffer) => void socket.write(frameOf(opcode, content))

  let control = Buffer.alloc(0)
  const answer = ({ opcode, bytes, isEnd }: Piece) => {
    control = Buffer.concat([control, bytes])
    if (!isEnd) return
    if (opcode === opcodes.ping) send(opcodes.pong, control)
    control = Buffer.alloc(0)
  }

  async function* frames(framer: Framer): AsyncGenerator<Frame> {
    const reader = new FrameReader()
    for await (const chunk of socket as AsyncIterable<Buffer>)
      for (const piece of reader.read(chunk)) {
        if (piece.opcode === opcodes.close) return
        if (piece.opcode > opcodes.close) answer(piece)
        else framer.add(piece.bytes)
        if (piece.opcode < opcodes.close && piece.isEnd && piece.isLast) yield framer.end()
      }
  }
  const close = () => void socket.destroy()
  socket.on('error', close)
  return { frames, close, send: text => send(opcodes.text, Buffer.from(text)) }
}

interface Piece {
  opcode: number
  bytes: Buffer
  /** Whether its frame ends with it, and whether that is the last frame of its message. */
  isEnd: boolean
  isLast: boolean
}

/** Finds the frames in what is read. */
class FrameReader {
  #header = Buffer.alloc(0)
  /** Bytes of the frame that are still to come; -1 until its header is there. */
  #left = -1

  #piece(bytes: Buffer): Piece {
    const [first = 0] = this.#header
    const isEnd = this.#left === 0
    if (isEnd) {
      this.#header = Buffer.alloc(0)
      this.#left = -1
    }
    return { opcode: first & 15, bytes, isEnd, isLast: first >= 128 }
  }

  *read(chunk: Buffer): Generator<Piece> {
    let at = 0
    while (at < chunk.length) {
      if (this.#left < 0) {
        this.#header = Buffer.concat([this.#header, chunk.subarray(at, at + 1)])
        at += 1
        this.#left = lengthIn(this.#header)
        if (this.#left !== 0) continue
      }
      const bytes = chunk.subarray(at, at + this.#left)
      at += bytes.length
      this.#left -= bytes.length
      yield this.#piece(bytes)
    }
  }
}

/** Of what follows the header; -1 as long as that is not whole. Throws if it is none that a server may send. */
function lengthIn(header: Buffer): number {
  const [first = 0, second] = header
  if ((first & 0x70) !== 0 || (second ?? 0) >= 128) throw new Error('This is no frame of a WebSocket.')
  if (second === undefined) return -1
  if ((first & 15) >= opcodes.close && second > 125) throw new Error('This is no frame of a WebSocket.')
  if (second < 126) return second
  if (second === 126) return header.length < 4 ? -1 : header.readUInt16BE(2)
  return header.length < 10 ? -1 : Number(header.readBigUInt64BE(2))
}

function frameOf(opcode: number, content: Buffer): Buffer {
  const { length } = content
  const sized = length < 126 ? 2 : length < 65_536 ? 4 : 10
  const frame = Buffer.allocUnsafe(sized + 4 + length)
  frame[0] = 128 + opcode
  frame[1] = 128 + (sized === 2 ? length : sized === 4 ? 126 : 127)
  if (sized === 4) frame.writeUInt16BE(length, 2)
  if (sized === 10) frame.writeBigUInt64BE(BigInt(length), 2)
  const mask = randomBytes(4)
  frame.set(mask, sized)
  for (let at = 0; at < length; at += 1) frame[sized + 4 + at] = (content[at] ?? 0) ^ (mask[at & 3] ?? 0)
  return frame
}
