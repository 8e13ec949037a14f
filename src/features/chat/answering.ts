import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import type { Ids } from '#platform/ids.ts'
import type { Log } from '#platform/log.ts'
import { keepAnswer } from './answer-keeper.ts'
import type { AnswerRecorder } from './answer-recorder.ts'
import { createAnswerRecorder } from './answer-recorder.ts'
import type { AnswerStore } from './answer-store.ts'
import type { ChatMessage } from './chat.schema.ts'
import type { Question } from './question.ts'
import type { TurnEvent, TurnOutcome } from './turn/turn.ts'

/** How a question ended. `assistantMessage` is what was said and stored, if anything was. */
export interface Answered {
  assistantMessage: ChatMessage | undefined
  error: AppError | undefined
}

interface Needs {
  store: AnswerStore
  clock: Clock
  ids: Ids
  log: Log
}

/** Answers questions: runs their turns, stores what is said as it comes to be, keeps the lock alive and lets it go. */
export function createAnswering({ store, clock, ids, log }: Needs) {
  const running = new Map<AbortController, Promise<unknown>>()

  async function answer(
    question: Question,
    emit: (event: TurnEvent) => void,
    signal: AbortSignal,
  ): Promise<Answered> {
    const recorder = createAnswerRecorder({
      id: ids.record(),
      conversationId: question.lock.conversationId,
      createdAt: timestamp(clock),
      model: question.model,
    })
    const lockLost = new AbortController()
    const keeper = keepAnswer({ question, recorder, store, clock, log, onLockLost: () => lockLost.abort() })
    const outcome = await question.turn(
      event => {
        recorder.add(event)
        emit(event)
      },
      AbortSignal.any([signal, lockLost.signal, question.agent.signal]),
    )
    await keeper.stop()
    if (lockLost.signal.aborted) return { assistantMessage: undefined, error: lockWasLost() }
    return settle(question, recorder, outcome)
  }

  async function settle(
    question: Question,
    recorder: AnswerRecorder,
    outcome: TurnOutcome,
  ): Promise<Answered> {
    const { end, usage } = outcome
    const isAborted = end.kind === 'aborted'
    const error = end.kind === 'failed' ? end.error : undefined
    const message = recorder.message({
      usage,
      ...(isAborted ? { aborted: true } : {}),
      ...(error === undefined ? {} : { error: error.message }),
    })
    const isKept = end.kind === 'answered' || recorder.state() !== ''
    if (!(await store.finish(question, isKept ? message : undefined)))
      return { assistantMessage: undefined, error: lockWasLost() }
    if (error !== undefined && error.fault !== 'user')
      log.warn({ err: error, agentId: question.agent.agentId, model: question.model }, 'a turn failed')
    return { assistantMessage: isKept ? message : undefined, error }
  }

  return {
    /** Never rejects for what the model or its tools do; the lock and the agent are let go in any case. */
    run(question: Question, emit: (event: TurnEvent) => void, client: AbortSignal): Promise<Answered> {
      const shutdown = new AbortController()
      const signal = AbortSignal.any([client, shutdown.signal])
      const answered = answer(question, emit, signal)
        .then(result => (shutdown.signal.aborted ? { ...result, error: shuttingDown() } : result))
        .finally(() => {
          running.delete(shutdown)
          question.agent.release()
        })
      running.set(shutdown, answered)
      return answered
    },

    /** Lets running turns finish within the grace (milliseconds), then ends them with an error. */
    async close(graceMs: number): Promise<void> {
      const timer = setTimeout(() => {
        for (const shutdown of running.keys()) shutdown.abort(shuttingDown())
      }, graceMs)
      await Promise.allSettled(running.values())
      clearTimeout(timer)
    },
  }
}

export type Answering = ReturnType<typeof createAnswering>

function lockWasLost(): AppError {
  return new AppError('CONFLICT', 'Another request has taken this conversation over. Send the message again.')
}

function shuttingDown(): AppError {
  return new AppError(
    'SHUTTING_DOWN',
    'The server is shutting down. What was said so far is kept; ask again in a moment.',
  )
}
