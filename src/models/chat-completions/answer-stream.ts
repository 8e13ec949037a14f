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

/** The parts of a streamed answer. By hand, since a part is to go through one promise alone: the one it is asked by. */
export function answerStream({ body, status }: Reply): AsyncIterableIterator<StreamPart, undefined> {
  const events = createEventData()
  const reader = createAnswerReader(give)
  const waiting: StreamPart[] = []
  let wanted: ((result: Result) => void) | undefined

  function give(part: StreamPart): void {
    if (wanted === undefined) waiting.push(part)
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

  body.on('data', (piece: Uint8Array) => {
    try {
      for (const data of events.read(piece)) reader.read(data)
    } catch (error) {
      fail(error)
    }
    if (waiting.length > mostWaiting) body.pause()
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
      const value = waiting.shift()
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
