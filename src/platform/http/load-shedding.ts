import { AppError } from '../errors.ts'
import type { LagMeasurement } from '../event-loop/measure-lag.ts'
import { measureLag } from '../event-loop/measure-lag.ts'
import type { Log } from '../logging/log.ts'
import type { App } from './app.ts'
import { whenClosed } from './closing.ts'

/** With fewer answers under way, the lag is not watched: it would not be theirs. A process carries about 1,000. */
const minAnswers = 200
/** How often the lag is read, in milliseconds. */
const readingMs = 500
/** Milliseconds of lag above which the process is overloaded, and below which it no longer is. */
const limits = { overloaded: 40, recovered: 20 }
/** Only as many readings in a row change anything. */
const readingsToChange = 2
/** After which a caller may try again; also that of other refusals for too much work. */
export const retryAfterSeconds = 5

declare module 'fastify' {
  interface FastifyReply {
    /** To be called before a turn begins. Throws OVERLOADED while the answers under way are more than the process can carry. */
    admitTurn(): void
  }
}

interface LoadSheddingOptions {
  /** Measures the event loop of this process, unless a test brings its own. */
  startLag?: (() => LagMeasurement) | undefined
  log: Log
}

/**
 * Refuses new questions while the event loop lags, so that the answers under way go on fluently. All other requests go on.
 */
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
 * Judges the lag by medians: a pause of any length is one wait among many. Where it is the only one of its reading, the next
 * reading is a good one, and a single bad reading changes nothing.
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
