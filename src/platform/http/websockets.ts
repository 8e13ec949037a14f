import type { IncomingMessage } from 'node:http'
import websocket from '@fastify/websocket'
import type { WebSocket } from 'ws'
import type { App } from './app.ts'

/** Bytes; larger messages end their connection, because no client sends them by mistake. */
const maxPayload = 1024 * 1024
/** Milliseconds between two pings; a connection that has not answered the one before is ended with the next. */
const pingMs = 30_000
/** Milliseconds in which the other side may answer that it closes, too. */
const closingMs = 1000

/**
 * Whether the connection of a request is no longer one of HTTP. Clients offer other protocols, such as HTTP/2, with requests of
 * any kind; Node would read no body of these any more, watch no time-out of theirs, and not end them with the server.
 */
export function isWebSocketRequest({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}

/** Lets routes be WebSockets (`websocket: true`), after the same hooks as all others; register it before them. */
export async function registerWebSockets(app: App): Promise<void> {
  await app.register(websocket, {
    options: { maxPayload, perMessageDeflate: false },
    errorHandler: (_error, socket) => socket.terminate(),
    preClose(done) {
      for (const client of app.websocketServer.clients) {
        client.close(1001, 'The service is shutting down.')
        setTimeout(() => client.terminate(), closingMs).unref()
      }
      app.websocketServer.close(() => done())
    },
  })
}

/** Pings while the connection is open, and ends it without an answer. */
export function keepAlive(socket: WebSocket): void {
  let isAlive = true
  const timer = setInterval(() => {
    if (!isAlive) {
      socket.terminate()
      return
    }
    isAlive = false
    socket.ping()
  }, pingMs).unref()
  socket.on('pong', () => {
    isAlive = true
  })
  socket.on('close', () => clearInterval(timer))
}
