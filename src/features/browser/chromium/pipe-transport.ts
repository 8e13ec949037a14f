import type { Readable, Writable } from 'node:stream'
import type { ConnectOverCDPTransport } from 'playwright-core'

interface Pipes {
  /** The browser reads its commands from it. */
  commands: Writable
  /** The browser writes answers and events to it. */
  events: Readable
  /** Ends the browser. */
  end(): void
}

/** Carries the messages of the DevTools protocol: JSON that a zero byte ends. */
export function createPipeTransport({ commands, events, end }: Pipes): ConnectOverCDPTransport {
  let parts: Buffer[] = []
  const transport: ConnectOverCDPTransport = {
    send: message => void commands.write(`${JSON.stringify(message)}\0`),
    close: end,
  }
  events.on('data', (chunk: Buffer) => {
    let start = 0
    for (let zero = chunk.indexOf(0); zero !== -1; zero = chunk.indexOf(0, start)) {
      const message = Buffer.concat([...parts, chunk.subarray(start, zero)])
      // Each in a turn of its own: fresh pages hang now and then if several arrive in one.
      setImmediate(() => transport.onmessage?.(JSON.parse(message.toString())))
      parts = []
      start = zero + 1
    }
    if (start < chunk.length) parts.push(chunk.subarray(start))
  })
  // A browser that ends breaks its pipes; its end is told by its process.
  for (const pipe of [commands, events]) pipe.on('error', () => {})
  return transport
}
