import type { IncomingMessage } from 'node:http'
import websocket from '@fastify/websocket'
import type { WebSocket } from 'ws'
import type { App } from './app.ts'

/** Max bytes; larger messages end their connection, because no client sends them by mistake. */
const maxPayload = 1024 * 1024
/** Interval of pings (ms); a connection that has not answered one is ended with the next. */
const pingMs = 30_000
/** Max time for the other side to close, too (ms). */
const closingMs = 1000

/**
 * Returns true if the connection of a request becomes a WebSocket. Clients offer other protocols, such as
 * HTTP/2, with requests of any kind; Node would read no body of these any more, watch no time-out of theirs,
 * and not end them with the server.
 */
export function isWebSocketRequest({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}

/** Supports WebSockets as routes (`websocket: true`), with the same hooks as others; register it first. */
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

/** Pings an open connection, and ends it if no answer comes. */
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
