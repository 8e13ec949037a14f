/** The cost of a crawl so far, over all turns: the limits apply to the total. */
import { Type } from 'typebox'
import type { Clock } from '#platform/clock.ts'
import { matches } from '#platform/schema-check.ts'
import type { CrawlConfig } from '../sources.schema.ts'
import { crawlLimits } from './crawl-limits.ts'

export interface Spending {
  /** The bytes of pages. */
  traffic: { bytes: number }
  isOver(): boolean
  /** Returns the configuration with the hidden cost, to be stored at the end of a turn. */
  noted(): CrawlConfig
}

const noteSchema = Type.Object({
  spent: Type.Object({ startedAt: Type.String(), milliseconds: Type.Number(), bytes: Type.Number() }),
})

/** Measures the cost. Idle time, during turns of others or while the service is down, does not count. */
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
      return { ...config, spent }
    },
  }
}
