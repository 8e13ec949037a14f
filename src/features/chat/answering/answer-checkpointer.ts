import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AnswerRecorder } from './answer-recorder.ts'
import type { AnswerStore } from './answer-store.ts'
import type { Question } from './question.ts'

/** Interval (ms) at which an unfinished answer is stored: a crash loses no more than this. */
const checkpointMs = 1000

interface Dependencies {
  question: Question
  recorder: AnswerRecorder
  store: AnswerStore
  clock: Clock
  log: Log
  /** Called when another request has taken the conversation's lock. */
  onLockLost(): void
}

/** Stores the unfinished answer and renews the lock of its conversation, until stopped. */
export function checkpointAnswer({ question, recorder, store, clock, log, onLockLost }: Dependencies) {
  let stored = ''
  let renewedAt = clock.now()
  let writing: Promise<void> = Promise.resolve()

  async function beat(): Promise<void> {
    const state = recorder.state()
    const isNew = state !== stored
    if (!isNew && clock.now() - renewedAt < store.renewalMs) return
    // The answer's sources are known only at its end.
    const message = isNew ? recorder.message({ aborted: true, tainted: true }) : undefined
    if (!(await store.checkpoint(question, message))) onLockLost()
    stored = state
    renewedAt = clock.now()
  }

  const timer = setInterval(() => {
    writing = writing
      .then(beat)
      .catch(error => log.error({ err: error }, 'storing an answer in the making failed'))
  }, checkpointMs)

  return {
    /** Resolves when the last write has ended. */
    stop(): Promise<void> {
      clearInterval(timer)
      return writing
    },
  }
}
