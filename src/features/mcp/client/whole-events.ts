import { hasMoreValuesThan } from '#platform/json-values.ts'

/** The reason why an event stream is no longer read. */
export type StreamEnd = 'ended' | 'broken' | 'too large'

export interface StreamBounds {
  /** Max size of one event, in bytes. */
  maxEventBytes: number
  /** Max size of the whole stream, in bytes. */
  maxStreamBytes: number
  /** Max values in the JSON of an event. */
  maxValues: number
}

const lineFeed = 10
const carriageReturn = 13

/**
 * Passes an event stream on in whole events. Its parser, which rescans an unfinished line with every piece,
 * thus never has one, and no endless data is buffered. `lastWords` are appended at any end of the stream;
 * without them, a broken or too large stream fails for its reader.
 */
export async function* wholeEvents(
  stream: AsyncIterable<Uint8Array>,
  { maxEventBytes, maxStreamBytes, maxValues }: StreamBounds,
  lastWords: (end: StreamEnd, isResumable: boolean) => string | undefined,
): AsyncGenerator<Uint8Array> {
  const unfinished = createEventBuffer(maxEventBytes)
  let total = 0
  let isResumable = false
  let end: StreamEnd = 'ended'
  let cause: unknown
  try {
    for await (const piece of stream) {
      total += piece.byteLength
      const events = total > maxStreamBytes ? undefined : unfinished.take(piece)
      if (events === undefined || hasMoreValuesThan(events, maxValues)) {
        end = 'too large'
        break
      }
      isResumable ||= namesEvent(events)
      if (events.byteLength > 0) yield events
    }
  } catch (error) {
    end = 'broken'
    cause = error
  }
  const words = lastWords(end, isResumable)
  if (words !== undefined) yield new TextEncoder().encode(words)
  else if (end !== 'ended') throw cause ?? new Error('The event stream is too large.')
}

/** True if an event has an id, with which its reader can request the events after it. */
function namesEvent(events: Uint8Array): boolean {
  const text = Buffer.from(events.buffer, events.byteOffset, events.byteLength)
  return text.subarray(0, 3).equals(idField) || text.includes('\nid:')
}

const idField = Buffer.from('id:')

function createEventBuffer(maxBytes: number) {
  const buffer = new ArrayBuffer(0, { maxByteLength: maxBytes })
  let lineLength = 0
  let last = 0

  /** Returns the end of the last complete event within the piece; 0 without one. */
  function endOfEvents(piece: Uint8Array): number {
    let end = 0
    piece.forEach((byte, index) => {
      const isSecondHalf = byte === lineFeed && last === carriageReturn
      last = byte
      if (byte !== lineFeed && byte !== carriageReturn) lineLength += 1
      else if (!isSecondHalf) {
        if (lineLength === 0) end = index + 1
        lineLength = 0
      }
    })
    return end
  }

  function keep(piece: Uint8Array): boolean {
    const start = buffer.byteLength
    if (start + piece.byteLength > maxBytes) return false
    buffer.resize(start + piece.byteLength)
    new Uint8Array(buffer).set(piece, start)
    return true
  }

  return {
    /** Returns the events that this piece completes, possibly none; undefined if one is too large. */
    take(piece: Uint8Array): Uint8Array | undefined {
      const end = endOfEvents(piece)
      if (!keep(piece.subarray(0, end))) return undefined
      if (end === 0) return keep(piece) ? new Uint8Array() : undefined
      const events = new Uint8Array(buffer).slice()
      buffer.resize(0)
      return keep(piece.subarray(end)) ? events : undefined
    },
  }
}
