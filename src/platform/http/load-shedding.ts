import { AppError } from '../errors.ts'
import { type LagMeasurement, measureLag } from '../event-loop/measure-lag.ts'
import type { Log } from '../logging/log.ts'
import type { App } from './app.ts'
import { whenClosed } from './closing.ts'

/** Min pending responses for which the lag is watched: it depends on them. A process carries about 1,000. */
const minAnswers = 200
/** Interval of reading the lag (ms). */
const readingMs = 500
/** Lags above which the process is overloaded, and below which it no longer is (ms). */
const limits = { overloaded: 40, recovered: 20 }
/** Min readings in a row for a change. */
const readingsToChange = 2
/** Time after which a caller can retry (s); also for other refusals for too much work. */
export const retryAfterSeconds = 5

declare module 'fastify' {
  interface FastifyReply {
    /** Call it before each turn. Throws OVERLOADED while more responses are pending than it can carry. */
    admitTurn(): void
  }
}

interface LoadSheddingOptions {
  /** Measures the event loop; defaults to that of this process. */
  startLag?: (() => LagMeasurement) | undefined
  log: Log
}

/** Refuses new turns while the event loop lags, so that pending responses stay fluent. Serves the rest. */
export function shedLoad(app: App, { startLag = measureLag, log }: LoadSheddingOptions): void {
  let answers = 0
  let watch: OverloadWatch | undefined

  function begin(): void {
    answers += 1
    if (answers >= minAnswers) watch ??= watchOverload(startLag(), log)
  }

  function end(): void {
    answers -= 1
    if (answers >= minAnswers) return
    watch?.stop()
    watch = undefined
  }

  app.decorateReply('admitTurn', function admitTurn() {
    if (watch?.isOverloaded()) {
      throw new AppError('OVERLOADED', `Too many answers are under way. Try again in ${retryAfterSeconds} s.`)
    }
    begin()
    whenClosed(this, end)
  })
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.limit === 'chat') reply.admitTurn()
  })
}

type OverloadWatch = ReturnType<typeof watchOverload>

/**
 * Judges the lag by medians: a pause of any length is one wait among many. If a reading has no other wait,
 * the next reading is a good one, and a single bad reading changes nothing.
 */
function watchOverload(lag: LagMeasurement, log: Log) {
  let isOverloaded = false
  let inRow = 0
  const timer = setInterval(() => {
    const median = lag.read()
    const speaksForChange = isOverloaded ? median < limits.recovered : median > limits.overloaded
    inRow = speaksForChange ? inRow + 1 : 0
    if (inRow < readingsToChange) return
    isOverloaded = !isOverloaded
    inRow = 0
    log.warn({ lag: median }, isOverloaded ? 'overloaded: new questions are refused' : 'no longer overloaded')
  }, readingMs).unref()
  return {
    isOverloaded: () => isOverloaded,
    stop() {
      clearInterval(timer)
      lag.stop()
    },
  }
}
