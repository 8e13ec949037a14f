import { AppError } from '#platform/errors.ts'
import { followSignals } from '#platform/follow-signals.ts'

/** The reason for the end of a turn that a person has stopped. */
export class TurnStopped extends Error {}

/** Tracks running turns, which end with the service. */
export function createRunning() {
  const running = new Map<AbortController, Promise<unknown>>()
  const byTurn = new Map<string, AbortController>()
  let isOver = false

  return {
    /** Runs work. Its controller aborts with one of the signals, or when the turn is stopped. */
    run<Result>(
      signals: readonly AbortSignal[],
      work: (ending: AbortController) => Promise<Result>,
      turnId = '',
    ): Promise<Result> {
      const ending = new AbortController()
      const unfollow = followSignals(ending, signals)
      if (isOver) ending.abort(shuttingDown())
      const result = work(ending).finally(() => {
        running.delete(ending)
        byTurn.delete(turnId)
        unfollow()
      })
      running.set(ending, result)
      if (turnId !== '') byTurn.set(turnId, ending)
      return result
    },

    /** Resolves when a local turn has ended; at once for any other. */
    async stop(turnId: string): Promise<void> {
      const ending = byTurn.get(turnId)
      if (ending === undefined) return
      ending.abort(new TurnStopped('The turn was stopped.'))
      await Promise.allSettled([running.get(ending)])
    },

    /** Lets running turns finish within the grace (milliseconds); then ends them, and those that still begin, with an error. */
    async close(graceMs: number): Promise<void> {
      setTimeout(() => {
        isOver = true
        for (const ending of running.keys()) ending.abort(shuttingDown())
      }, graceMs).unref()
      while (running.size > 0) await Promise.allSettled(running.values())
    },
  }
}

export type Running = ReturnType<typeof createRunning>

function shuttingDown(): AppError {
  return new AppError(
    'SHUTTING_DOWN',
    'The server is shutting down. What was said so far is kept; ask again in a moment.',
  )
}
