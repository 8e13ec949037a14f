import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import { readBody } from '#platform/outbound/response-body.ts'
import type { Wire } from './connection.ts'
import type { Frame, Framer } from './framing.ts'

/** Max bytes of a response that contains the socket's address. */
const longestAnswer = 64 * 1024
const opcodes = { close: 8, ping: 9 }

/**
 * Opens a connection to a browser elsewhere. The library buffers a message of any size, or gives up the
 * connection; so it only opens and writes, and this module reads its frames in pieces.
 * @param url of its DevTools, or of the socket itself; can contain credentials
 */
export async function openWebSocket(url: string, signal: AbortSignal): Promise<Wire> {
  const address = new URL(url)
  const websocket = new WebSocket(await endpointOf(address, signal), {
    perMessageDeflate: false,
    followRedirects: true,
  })
  const opened = Promise.withResolvers<Wire>()
  let socket: Socket | undefined
  websocket.on('upgrade', answer => {
    socket = answer.socket
  })
  websocket.on('open', () => socket && opened.resolve(wireOf(websocket, socket)))
  websocket.on('error', opened.reject).on('close', () => opened.reject(new Error('it was closed')))
  signal.addEventListener('abort', () => opened.reject(signal.reason))
  return await opened.promise.catch(error => {
    websocket.terminate()
    throw error
  })
}

async function endpointOf(address: URL, signal: AbortSignal): Promise<URL> {
  if (/^wss?:$/.test(address.protocol)) return address
  const { username, password } = address
  const version = new URL(address)
  version.pathname = `${address.pathname.replace(/\/$/, '')}/json/version/`
  Object.assign(version, { username: '', password: '' })
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString(
    'base64',
  )
  const headers = username === '' ? {} : { authorization: `Basic ${basic}` }
  const answer = await fetch(version, { headers, signal })
  const body = await readBody(answer.body, longestAnswer)
  const endpoint = new URL(JSON.parse(Buffer.from(body ?? []).toString()).webSocketDebuggerUrl)
  if (endpoint.host === address.host) Object.assign(endpoint, { username, password })
  return endpoint
}

function wireOf(websocket: WebSocket, socket: Socket): Wire {
  socket.removeAllListeners('data')
  return {
    frames: framer => readFrames(websocket, socket, framer),
    send: text => websocket.send(text, () => {}),
    close: () => websocket.terminate(),
  }
}

async function* readFrames(websocket: WebSocket, socket: Socket, framer: Framer): AsyncGenerator<Frame> {
  const reader = new FrameReader()
  for await (const chunk of socket as AsyncIterable<Buffer>)
    for (const { opcode, bytes, isLast } of reader.read(chunk)) {
      if (opcode === opcodes.close) return
      if (opcode === opcodes.ping) websocket.pong(bytes)
      if (opcode < opcodes.close) framer.add(bytes)
      if (isLast) yield framer.end()
    }
}

/** A part of a message, or a complete control frame. */
interface Piece {
  opcode: number
  bytes: Buffer
  /** True if a message ends with this piece. */
  isLast: boolean
}

/** Finds the frames of a WebSocket server (RFC 6455) in the read chunks. */
class FrameReader {
  #header = Buffer.alloc(0)
  #control = Buffer.alloc(0)
  /** Bytes of the frame still to read; -1 until its header is complete. */
  #left = -1

  #piece(bytes: Buffer): Piece | undefined {
    const [first = 0] = this.#header
    const opcode = first & 15
    const isEnd = this.#left === 0
    if (isEnd) {
      this.#header = Buffer.alloc(0)
      this.#left = -1
    }
    if (opcode < opcodes.close) return { opcode, bytes, isLast: isEnd && first >= 128 }
    const control = Buffer.concat([this.#control, bytes])
    this.#control = isEnd ? Buffer.alloc(0) : control
    return isEnd ? { opcode, bytes: control, isLast: false } : undefined
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
      const piece = this.#piece(bytes)
      if (piece !== undefined) yield piece
    }
  }
}

/** Returns the frame's length; -1 for an incomplete header. Throws for a frame that no server may send. */
function lengthIn(header: Buffer): number {
  const [first = 0, second = 0] = header
  const isControl = (first & 15) >= opcodes.close
  if ((first & 0x70) !== 0 || second >= 128 || (isControl && second > 125))
    throw new Error('This is no frame of a WebSocket.')
  const sized = second < 126 ? 2 : second === 126 ? 4 : 10
  if (header.length < sized) return -1
  if (sized === 2) return second
  return sized === 4 ? header.readUInt16BE(2) : Number(header.readBigUInt64BE(2))
}
