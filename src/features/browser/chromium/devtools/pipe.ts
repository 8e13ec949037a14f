import type { Readable, Writable } from 'node:stream'
import type { Wire } from './connection.ts'
import type { Frame, Framer } from './framing.ts'

interface Pipes {
  /** The pipe from which the browser reads commands. */
  commands: Writable
  /** The pipe to which the browser writes results and events. */
  events: Readable
  /** Ends the browser. */
  end(): void
}

/** Carries JSON that ends with a zero byte. */
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
  // A browser that ends breaks its pipes, which ends reading.
  for (const pipe of [commands, events]) pipe.on('error', end)
  return { frames, send: text => void commands.write(`${text}\0`), close: end }
}
