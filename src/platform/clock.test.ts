import { expect, it } from 'vitest'
import { systemClock, timestamp } from './clock.ts'

it('a timestamp is ISO 8601 in UTC with milliseconds', () => {
  expect(timestamp({ now: () => 0 })).toBe('1970-01-01T00:00:00.000Z')
  expect(timestamp({ now: () => 1_702_648_800_007 })).toBe('2023-12-15T14:00:00.007Z')
})

it('the system clock counts milliseconds since the epoch', () => {
  const before = Date.now()
  const now = systemClock.now()
  expect(now).toBeGreaterThanOrEqual(before)
  expect(now).toBeLessThanOrEqual(Date.now())
})
