import type { DoneFuncWithErrOrRes } from 'fastify'
import { sendAtEndOfTurn } from '../../event-loop/end-of-turn.ts'
import type { App } from '../app.ts'

/**
 * Answers wait for others of their turn at most this long, in milliseconds: a longer wait would cost more than is saved.
 */
const longestWaitMs = 1

/**
 * Sends the answers of one turn of the event loop together, at its end. A client or proxy on the same machine sleeps
 * between answers, and waking it costs more than most requests do, so it is woken once for all of them. Answers that come
 * one at a time, as when there is much work between them, do not wait.
 */
export function sendTogether(app: App): void {
  let waiting: (() => void)[] = []
  let since = 0
  let answersOfTurn = 0
  let comeTogether = false

  function sendAll(): void {
    const due = waiting
    waiting = []
    for (const send of due) send()
  }

  function endTurn(): void {
    comeTogether = answersOfTurn > 1
    answersOfTurn = 0
    sendAll()
  }

  app.addHook('onSend', (_request, _reply, payload, done) => {
    answersOfTurn += 1
    if (answersOfTurn === 1) sendAtEndOfTurn(endTurn)
    // A stream that fails before anybody listens to it would end the process.
    if (!comeTogether || typeof payload !== 'string') {
      done(null, payload)
      return
    }
    const now = performance.now()
    if (waiting.push(() => sendOrFail(done, payload)) === 1) since = now
    else if (now - since > longestWaitMs) sendAll()
  })
}

/** What can't be sent becomes an error of its own request: here nothing else would catch it, and the others would be lost. */
function sendOrFail(done: DoneFuncWithErrOrRes, payload: string): void {
  try {
    done(null, payload)
  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)))
  }
}
