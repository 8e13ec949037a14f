import type { Socket } from 'node:net'
import type { App } from './app.ts'

/** Requests of a connection that are begun before the answer to the first of them has been taken. */
const maxBegun = 2
/** Requests of all connections that had to wait, and are not answered yet: each costs a few kilobytes. */
const maxAhead = 10_000

/** The requests of one connection. */
interface Line {
  begun: number
  waiting: (() => void)[]
}

/**
 * A client may send requests ahead, without waiting for answers (RFC 9112, section 9.3.2). They begin in their order, a
 * few at a time, and none while what was answered waits to be read: else the answers to a client that reads none would
 * fill the memory. Meanwhile no more is read from it; and where too many wait, connections that send yet more are ended.
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
        // In another turn of the event loop, so that other clients do not wait for all that one has sent ahead.
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
    // Data that came together with it is parsed first, and has Node read on.
    queueMicrotask(() => socket.pause())
  })
}
