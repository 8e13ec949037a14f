/** The cost of a crawl so far, over all its turns: the limits apply to the whole, however often it was interrupted. */
import { Type } from 'typebox'
import type { Clock } from '#platform/clock.ts'
import { matches } from '#platform/schema-check.ts'
import type { CrawlConfig } from '../sources.schema.ts'
import { crawlLimits } from './crawl-limits.ts'

export interface Spending {
  /** Bytes of pages. */
  traffic: { bytes: number }
  isOver(): boolean
  /** The configuration with a note of it, which no caller gets to see; to be stored when a turn is over. */
  noted(): CrawlConfig
}

const noteSchema = Type.Object({
  spent: Type.Object({ startedAt: Type.String(), milliseconds: Type.Number(), bytes: Type.Number() }),
})

/** Time in which nothing works on it, because others have their turn or the service is down, does not count. */
export function spendingOf(config: CrawlConfig, clock: Clock): Spending {
  const { startedAt, maxPages } = config
  const isNoted = matches(noteSchema, config) && config.spent.startedAt === startedAt
  const before = isNoted ? config.spent : { milliseconds: 0, bytes: 0 }
  const turnBegan = clock.now()
  const milliseconds = () => before.milliseconds + clock.now() - turnBegan
  const traffic = { bytes: before.bytes }
  return {
    traffic,
    isOver: () =>
      milliseconds() > crawlLimits.crawlMs(maxPages) || traffic.bytes > maxPages * crawlLimits.pageBytes,
    noted() {
      const spent = { startedAt, milliseconds: milliseconds(), bytes: traffic.bytes }
      return { ...config, ...{ spent } }
    },
  }
}
