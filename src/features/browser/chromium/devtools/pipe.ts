import type { Readable, Writable } from 'node:stream'
import type { Wire } from './connection.ts'
import type { Frame, Framer } from './framing.ts'

interface Pipes {
  /** The browser reads its commands from it. */
  commands: Writable
  /** The browser writes answers and events to it. */
  events: Readable
  /** Ends the browser. */
  end(): void
}

/** JSON that a zero byte ends. */
export function createPipe({ commands, events, end }: Pipes): Wire {
  async function* frames(framer: Framer): AsyncGenerator<Frame> {
    for await (const chunk of events as AsyncIterable<Buffer>) {
      let start = 0
      for (let zero = chunk.indexOf(0); zero !== -1; zero = chunk.indexOf(0, start)) {
        framer.add(chunk.subarray(start, zero))
        yield framer.end()
        start = zero + 1
      }
      if (start < chunk.length) framer.add(chunk.subarray(start))
    }
  }
  // A browser that ends breaks its pipes; reading ends with it.
  for (const pipe of [commands, events]) pipe.on('error', end)
  return { frames, send: text => void commands.write(`${text}\0`), close: end }
}
