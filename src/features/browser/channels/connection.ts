import type { WebSocket } from 'ws'
import { keepAlive } from '#platform/http/websockets.ts'

/** Codes that a connection ends with, beside those of RFC 6455. */
export const closeCodes = { unusable: 4400, noAccess: 4403, unknownSession: 4404 } as const

/** Messages that a client may send in vain. */
const maxUnusable = 50
/** Messages in a second, far more than a mouse sends. */
const maxEachSecond = 5000
/** Characters of a message. */
const maxCharacters = 64 * 1024
/** Bytes that may wait for a client before what it can do without is left out, and the rest ends its connection. */
const maxWaiting = 4 * 1024 * 1024

/** One client of a channel. */
export interface Connection {
  /** Sends what is needed; a client that does not keep up with it is too slow. */
  send(message: unknown): void
  /** Sends what a client that does not keep up with it can do without. */
  sendIfReady(message: unknown): void
  /** Sends text as it is, and calls back when it has left this process. */
  sendText(text: string, sent: () => void): void
  /** As `send`, for what is JSON already. */
  sendWhole(text: string): void
  /** Calls back with each message that is a JSON object; `use` returns whether it could be used. */
  onMessage(use: (message: Record<string, unknown>) => boolean): void
  close(code: number, reason: string): void
  onClose(callback: () => void): void
}

/** Counts what a client sends that can't be used, and ends the connection of one that goes on with it. */
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
