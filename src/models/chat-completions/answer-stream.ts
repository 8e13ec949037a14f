import type { StreamPart } from '../language-model.ts'
import type { Reply } from '../send.ts'
import { createAnswerReader } from './answer-reader.ts'
import { brokenConnection, UnreadableAnswer } from './call-failure.ts'
import { createEventData } from './event-data.ts'

type Result = IteratorResult<StreamPart, undefined>

/** How long the end of a connection is waited for after its answer, in milliseconds: one that ends can be used again. */
const drainMs = 1000

/** Parts that may wait for a reader before the connection is held back. */
const mostWaiting = 1000

/** Bytes of a whole answer, so that one without end can't fill the memory. */
const mostBytes = 32 * 1024 * 1024

/** The parts of a streamed answer. By hand, since a part is to go through one promise alone: the one it is asked by. */
export function answerStream({ body, status }: Reply): AsyncIterableIterator<StreamPart, undefined> {
  const events = createEventData()
  const reader = createAnswerReader(give)
  const waiting = createQueue<StreamPart>()
  let bytes = 0
  let wanted: ((result: Result) => void) | undefined

  function give(part: StreamPart): void {
    if (wanted === undefined) waiting.add(part)
    else wanted({ done: false, value: part })
    wanted = undefined
    if (reader.isOver()) finish(part)
  }

  function finish(last: StreamPart): void {
    if (last.type === 'error') body.destroy()
    if (last.type !== 'finish') return
    const patience = setTimeout(() => body.destroy(), drainMs).unref()
    body.once('close', () => clearTimeout(patience))
  }

  function fail(error: unknown): void {
    if (reader.isOver()) return
    reader.fail(error instanceof UnreadableAnswer ? error : brokenConnection(error, status))
  }

  function take(piece: Uint8Array): void {
    bytes += piece.byteLength
    if (bytes > mostBytes) throw new UnreadableAnswer('The answer has no end.')
    for (const data of events.read(piece)) reader.read(data)
  }

  body.on('data', (piece: Uint8Array) => {
    // What follows the end is only waited out.
    if (reader.isOver()) return
    try {
      take(piece)
    } catch (error) {
      fail(error)
    }
    if (waiting.size() > mostWaiting) body.pause()
  })
  body.once('end', () => {
    for (const data of events.end()) reader.read(data)
    reader.end()
  })
  body.on('error', fail)
  body.once('close', () => fail(new Error('The connection was closed.')))

  const iterator: AsyncIterableIterator<StreamPart, undefined> = {
    [Symbol.asyncIterator]: () => iterator,
    next() {
      const value = waiting.take()
      if (value !== undefined) return Promise.resolve<Result>({ done: false, value })
      if (reader.isOver()) return Promise.resolve<Result>({ done: true, value: undefined })
      if (body.isPaused()) body.resume()
      return new Promise<Result>(resolve => {
        wanted = resolve
      })
    },
    return() {
      if (!reader.isOver()) body.destroy()
      return Promise.resolve<Result>({ done: true, value: undefined })
    },
  }
  return iterator
}

/** First in, first out: taking from the front of a long array moves all the rest of it. */
function createQueue<Item>() {
  let items: Item[] = []
  let taken = 0

  return {
    size: () => items.length - taken,
    add(item: Item): void {
      items.push(item)
    },
    take(): Item | undefined {
      const item = items[taken]
      if (item === undefined) return undefined
      taken += 1
      if (taken === items.length) {
        items = []
        taken = 0
      }
      return item
    },
  }
}
