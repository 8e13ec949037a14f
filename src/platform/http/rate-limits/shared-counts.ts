import type { Clock } from '../../clock.ts'
import type { Log } from '../../logging/log.ts'

/** The number of requests admitted in one window. */
export interface RequestCount {
  key: string
  points: number
  /** End of the window, in milliseconds since the epoch. */
  expiresAt: number
}

/** The exchange of admitted requests between processes. */
export interface SharedCounts {
  /** Adds to the counts of all processes, and returns the new ones; a count whose window is over begins again. */
  add(counts: readonly RequestCount[]): Promise<RequestCount[]>
}

interface Dependencies {
  shared: SharedCounts
  clock: Clock
  log: Log
  /** Applies the count of all processes, including the requests that came here meanwhile. */
  apply(count: RequestCount): void
}

export interface CountExchange {
  /** Notes one more admitted request. */
  note(key: string, expiresAt: number): void
  close(): Promise<void>
}

/** Time between a request and the exchange that reports it, with all that came until then (ms). */
const exchangeAfter = 1_000

/** Exchanges counts with other processes, independently of the requests; without any requests, nothing is exchanged. */
export function createCountExchange({ shared, clock, log, apply }: Dependencies): CountExchange {
  let news = new Map<string, RequestCount>()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined

  function note({ key, points, expiresAt }: RequestCount): void {
    const former = news.get(key)
    const isSameWindow = former !== undefined && former.expiresAt > clock.now()
    news.set(key, { key, points: points + (isSameWindow ? former.points : 0), expiresAt })
  }

  async function exchange(): Promise<void> {
    const reported = [...news.values()].filter(({ expiresAt }) => expiresAt > clock.now())
    news = new Map()
    if (reported.length === 0) return
    try {
      for (const count of await shared.add(reported))
        apply({ ...count, points: count.points + (news.get(count.key)?.points ?? 0) })
    } catch (error) {
      log.warn({ err: error }, 'exchanging the counts of rate limits has failed; this process counts alone')
      for (const count of reported) note(count)
    }
  }

  function arm(): void {
    if (timer !== undefined || running !== undefined) return
    timer = setTimeout(() => {
      timer = undefined
      running = exchange().finally(() => {
        running = undefined
        if (news.size > 0) arm()
      })
    }, exchangeAfter)
    timer.unref()
  }

  return {
    note(key, expiresAt) {
      note({ key, points: 1, expiresAt })
      arm()
    },
    async close() {
      clearTimeout(timer)
      await running
      clearTimeout(timer)
    },
  }
}
