import type { DoneFuncWithErrOrRes } from 'fastify'
import { sendAtEndOfTurn } from '../end-of-turn.ts'
import type { App } from './app.ts'

/** After so many milliseconds no answer waits for more of its turn: what goes on then is longer than what is spared. */
const longestWaitMs = 1

/**
 * Sends the answers of one turn of the event loop one right after the other, at its end. A client, or a proxy, on the
 * same machine sleeps between answers, and waking it costs more than most requests do: so it is woken once for all of them.
 * Nothing waits where answers come one by one, as when there is much else to do between them.
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
