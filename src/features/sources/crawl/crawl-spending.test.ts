import { expect, test } from 'vitest'
import { manualClock } from '#test/support/manual-clock.ts'
import type { CrawlConfig } from '../sources.schema.ts'
import { crawlLimits } from './crawl-limits.ts'
import { spendingOf } from './crawl-spending.ts'

const config: CrawlConfig = {
  url: 'http://example.com/',
  maxPages: 2,
  maxDepth: 3,
  includePatterns: [],
  excludePatterns: [],
  useSitemap: false,
  render: 'never',
  startedAt: '2026-11-21T00:00:00.000Z',
}

test('what is spent adds up over the turns of a crawl, and pauses between them are free', () => {
  const clock = manualClock()
  const most = crawlLimits.crawlMs(2)
  let stored = config
  for (let turn = 0; turn < 4; turn += 1) {
    const spending = spendingOf(stored, clock)
    clock.advance(most / 4)
    expect(spending.isOver()).toBe(false)
    stored = spending.noted()
    clock.advance(24 * most)
  }
  const spending = spendingOf(stored, clock)
  expect(spending.isOver()).toBe(false)
  clock.advance(1)
  expect(spending.isOver()).toBe(true)
})

test('bytes add up, too, and another crawl begins with nothing', () => {
  const clock = manualClock()
  const first = spendingOf(config, clock)
  first.traffic.bytes += 2 * crawlLimits.pageBytes
  const second = spendingOf(first.noted(), clock)
  expect(second.isOver()).toBe(false)
  second.traffic.bytes += 1
  expect(second.isOver()).toBe(true)
  const next = { ...second.noted(), startedAt: '2026-11-22T00:00:00.000Z' }
  expect(spendingOf(next, clock).isOver()).toBe(false)
})
