import type { WebSocket } from 'ws'
import { keepAlive } from '#platform/http/websockets.ts'

/** Codes that end a connection, besides those of RFC 6455. */
export const closeCodes = { unusable: 4400, noAccess: 4403, unknownSession: 4404 } as const

/** Max unusable messages of a client. */
const maxUnusable = 50
/** Max messages in a second, far more than a mouse sends. */
const maxEachSecond = 5000
/** Max characters of a message. */
const maxCharacters = 64 * 1024
/** Max waiting bytes of a client: above it, optional messages are dropped, others disconnect it. */
const maxWaiting = 4 * 1024 * 1024

/** One client of a channel. */
export interface Connection {
  /** Sends a required message; a client that can't keep up is too slow. */
  send(message: unknown): void
  /** Sends a message that is dropped for a slow client. */
  sendIfReady(message: unknown): void
  /** Sends text unchanged, and calls back when it has left this process. */
  sendText(text: string, sent: () => void): void
  /** Sends JSON text like `send`. */
  sendWhole(text: string): void
  /** Calls back with each message that is a JSON object; `use` returns true if it was usable. */
  onMessage(use: (message: Record<string, unknown>) => boolean): void
  close(code: number, reason: string): void
  onClose(callback: () => void): void
}

/** Counts unusable messages of a client, and closes its connection above the limit. */
export function createConnection(socket: WebSocket): Connection {
  keepAlive(socket)
  let use: (message: Record<string, unknown>) => boolean = () => false
  let unusable = 0
  let second = { began: 0, messages: 0 }
  const isOpen = () => socket.readyState === socket.OPEN

  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (!isOpen()) return
    const now = performance.now()
    if (now - second.began > 1000) second = { began: now, messages: 0 }
    second.messages += 1
    const isUsable = !isBinary && data.length <= maxCharacters && second.messages <= maxEachSecond
    const message = isUsable ? parse(data.toString()) : undefined
    if (message !== undefined && use(message)) return
    unusable += 1
    if (unusable >= maxUnusable)
      socket.close(closeCodes.unusable, `${maxUnusable} messages could not be used.`)
  })

  const sendWhole = (text: string) => {
    if (isOpen() && socket.bufferedAmount < maxWaiting) socket.send(text)
    else if (isOpen()) socket.close(1013, 'The connection is too slow.')
  }
  const send = (message: unknown) => sendWhole(JSON.stringify(message))
  return {
    send,
    sendIfReady(message) {
      if (socket.bufferedAmount < maxWaiting) send(message)
    },
    sendText(text, sent) {
      if (isOpen()) socket.send(text, sent)
    },
    sendWhole,
    onMessage(callback) {
      use = callback
    },
    close: (code, reason) => socket.close(code, reason),
    onClose: callback => void socket.once('close', callback),
  }
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
