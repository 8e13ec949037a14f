import type { Clock } from '#platform/clock.ts'

export interface ManualClock extends Clock {
  /** Milliseconds. */
  advance(duration: number): void
}

/** A clock that stands still until it is told how much time has passed. */
export function manualClock(start = '2026-01-01T00:00:00.000Z'): ManualClock {
  let now = Date.parse(start)
  return {
    now: () => now,
    advance(duration) {
      now += duration
    },
  }
}
