import type { Socket } from 'node:net'
import type { App } from './app.ts'

/** Max requests of a connection that begin before the client has taken the first response. */
const maxBegun = 2
/** Max waiting requests of all connections: each costs a few kilobytes. */
const maxAhead = 10_000

/** The requests of one connection. */
interface Line {
  begun: number
  waiting: (() => void)[]
}

/**
 * A client can send requests ahead, without waiting for responses (RFC 9112, section 9.3.2). They begin in
 * order, a few at a time, and none while a response waits to be read: unread responses would fill the memory.
 * Meanwhile the connection is not read; beyond a limit, connections that send more end.
 */
export function beginPipelinedInTurn(app: App): void {
  const lines = new WeakMap<Socket, Line>()
  let ahead = 0

  app.addHook('onRequest', ({ raw: request }, { raw: response }, done) => {
    const { socket } = request
    const line = lines.get(socket) ?? { begun: 0, waiting: [] }
    lines.set(socket, line)
    const mayBegin = () => line.begun === 0 || (line.begun < maxBegun && !socket.writableNeedDrain)

    function begin(): void {
      line.begun += 1
      response.once('close', () => {
        line.begun -= 1
        // Other turns of the event loop are for other clients, which must not wait for all of one's requests.
        if (line.waiting.length > 0) setImmediate(beginNext)
      })
      done()
    }

    function beginNext(): void {
      while (line.waiting.length > 0 && mayBegin()) line.waiting.shift()?.()
    }

    if (line.waiting.length === 0 && mayBegin()) {
      begin()
      return
    }
    if (ahead >= maxAhead && line.waiting.length > 0) socket.destroy()
    ahead += 1
    request.once('close', () => {
      ahead -= 1
    })
    line.waiting.push(() => {
      if (line.waiting.length === 0) socket.resume()
      begin()
    })
    // Data that came together with the request is parsed first, and makes Node read on.
    queueMicrotask(() => socket.pause())
  })
}
