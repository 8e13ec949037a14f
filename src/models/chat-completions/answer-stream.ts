import type { StreamPart } from '../language-model.ts'
import { createAnswerReader } from './answer-reader.ts'
import { brokenConnection, UnreadableAnswer } from './call-failure.ts'
import { createEventData } from './event-data.ts'

/** How long the end of an answer's connection is waited for, in milliseconds, so that it can be used again. */
const drainMs = 1000

/**
 * The parts of a streamed answer. An iterator by hand: parts that arrived together are handed out without another look
 * at the network, and no part goes through more promises than its own.
 */
export function answerStream(response: Response): AsyncIterableIterator<StreamPart, undefined> {
  const body = (
    response.body ?? new ReadableStream<Uint8Array>({ start: stream => stream.close() })
  ).getReader()
  const events = createEventData()
  const reader = createAnswerReader(part => parts.push(part))
  const over = { done: true, value: undefined } as const
  let parts: StreamPart[] = []
  let given = 0

  function take(piece: Uint8Array | undefined): void {
    for (const data of piece === undefined ? events.end() : events.read(piece)) reader.read(data)
    if (piece === undefined) reader.end()
  }

  async function refill(): Promise<IteratorResult<StreamPart, undefined>> {
    parts = []
    given = 0
    while (parts.length === 0 && !reader.isOver()) {
      try {
        take((await body.read()).value)
      } catch (error) {
        reader.fail(error instanceof UnreadableAnswer ? error : brokenConnection(error, response.status))
      }
    }
    return next()
  }

  function next(): Promise<IteratorResult<StreamPart, undefined>> {
    const value = parts[given]
    given += 1
    if (value !== undefined) return Promise.resolve({ done: false, value })
    return reader.isOver() ? Promise.resolve(over) : refill()
  }

  const iterator: AsyncIterableIterator<StreamPart, undefined> = {
    [Symbol.asyncIterator]: () => iterator,
    next,
    return() {
      void (reader.isOver() ? drain(body) : body.cancel().catch(() => undefined))
      return Promise.resolve(over)
    },
  }
  return iterator
}

/** A connection whose answer is not read to its end can't be used again. */
async function drain(body: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const patience = setTimeout(() => body.cancel().catch(() => undefined), drainMs)
  while (
    await body.read().then(
      ({ done }) => !done,
      () => false,
    )
  );
  clearTimeout(patience)
}
