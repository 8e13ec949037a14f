import type { Parts, StreamPart } from '../language-model/language-model.ts'
import type { Reply } from '../transport/send.ts'
import { createAnswerReader, type ReaderOptions } from './answer-reader.ts'
import { brokenConnection, UnreadableAnswer } from './call-failure.ts'
import { createEventData } from './event-data.ts'

/**
 * Max wait for the end of the response after its last event (ms): only a response that has ended frees its
 * connection for reuse.
 */
const drainMs = 1000

/** Max size of an answer in bytes, so that an endless one cannot fill the memory. */
const maxBytes = 32 * 1024 * 1024

/** Returns the parts of a streamed answer, which is read only as fast as they are consumed. */
export function answerStream({ body, status }: Reply, options: ReaderOptions = {}): Parts<StreamPart> {
  return take =>
    new Promise((resolve, reject) => {
      const events = createEventData()
      const reader = createAnswerReader(give, options)
      let size = 0
      let timeout: NodeJS.Timeout | undefined
      let isOver = false

      function give(part: StreamPart): void {
        if (isOver) return
        try {
          take(part)
        } catch (error) {
          leave(error)
          return
        }
        if (part.type !== 'finish' && part.type !== 'error') return
        isOver = true
        if (part.type === 'finish') timeout = setTimeout(body.leave, drainMs).unref()
        else body.leave()
        resolve()
      }

      function leave(error: unknown): void {
        isOver = true
        body.leave()
        reject(error)
      }

      function fail(error: unknown): void {
        if (!reader.isOver())
          reader.fail(error instanceof UnreadableAnswer ? error : brokenConnection(error, status))
      }

      body.read({
        piece(bytes) {
          // Data after the end is read and dropped.
          if (isOver) return
          try {
            size += bytes.byteLength
            if (size > maxBytes) throw new UnreadableAnswer('The answer has no end.')
            for (const event of events.read(bytes)) reader.read(event)
          } catch (error) {
            fail(error)
          }
        },
        end() {
          try {
            reader.end(events.end())
          } catch (error) {
            fail(error)
          }
          clearTimeout(timeout)
        },
        fail(error) {
          fail(error)
          clearTimeout(timeout)
        },
      })
    })
}
