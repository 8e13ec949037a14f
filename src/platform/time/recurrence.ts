import { instantOf, offsetAt } from './zones.ts'

export const dayMs = 86_400_000

export type Recurrence = 'none' | 'daily' | 'weekly' | 'monthly'

/** The rule of a repeated event. Times are ISO 8601, in UTC. */
export interface Series {
  start_time: string
  timezone: string
  recurrence: Recurrence
  /** Days of the week of a `weekly` rule; 0 is Sunday. */
  recurrence_days: number[]
  /** The latest possible beginning. */
  recurrence_end: string | null
  /** Excluded dates in its time zone. */
  exceptions: string[]
}

/**
 * Yields the instants at which it begins, from `from` on and in order, possibly without an end. It begins at
 * the same wall time each day: one in a gap is moved forward by the gap, one that occurs twice is the first,
 * and two that so fall on the same instant are one.
 */
export function* occurrences(series: Series, from = Number.NEGATIVE_INFINITY): Generator<number> {
  const { timezone, recurrence, recurrence_end } = series
  const start = Date.parse(series.start_time)
  if (recurrence === 'none') {
    if (start >= from) yield start
    return
  }
  const end = recurrence_end === null ? Number.POSITIVE_INFINITY : Date.parse(recurrence_end)
  const exceptions = new Set(series.exceptions)
  const wall = start + offsetAt(start, timezone)
  const firstDay = Math.floor(wall / dayMs)
  // Some days before, because neither offsets nor gaps are longer.
  const begin = Math.max(firstDay, Math.floor(from / dayMs) - 3)
  let last = Number.NEGATIVE_INFINITY
  for (const day of daysFrom(series, firstDay, begin)) {
    const instant = instantOf(day * dayMs + (wall - firstDay * dayMs), timezone)
    if (instant > end) return
    if (instant <= last || exceptions.has(dateOf(day))) continue
    last = instant
    if (instant >= from) yield instant
  }
}

/** Returns the wall times, by its rule, at this instant: several if a gap is as long as a day. */
export function wallTimesAt({ start_time, timezone }: Series, instant: number): number[] {
  const wallStart = Date.parse(start_time) + offsetAt(Date.parse(start_time), timezone)
  const timeOfDay = wallStart - Math.floor(wallStart / dayMs) * dayMs
  const day = Math.floor((instant + offsetAt(instant, timezone)) / dayMs)
  const candidates = [day - 1, day].map(one => one * dayMs + timeOfDay)
  return candidates.filter(wall => instantOf(wall, timezone) === instant)
}

/** Yields the days since the epoch on which it begins, from `begin` on. */
function* daysFrom({ recurrence, recurrence_days }: Series, firstDay: number, begin: number) {
  if (recurrence !== 'monthly') {
    const isOn = (day: number) => recurrence === 'daily' || recurrence_days.includes(weekdayOf(day))
    for (let day = begin; ; day += 1) if (isOn(day)) yield day
  }
  const dayOfMonth = new Date(firstDay * dayMs).getUTCDate()
  const first = new Date(begin * dayMs)
  for (let month = first.getUTCMonth(); ; month += 1) {
    const lastOfMonth = new Date(Date.UTC(first.getUTCFullYear(), month + 1, 0))
    const day = lastOfMonth.getTime() / dayMs - Math.max(0, lastOfMonth.getUTCDate() - dayOfMonth)
    if (day >= begin) yield day
  }
}

/** Returns the day of the week: 0 is Sunday; the epoch was a Thursday. */
export function weekdayOf(day: number): number {
  return (day + 4) % 7
}

function dateOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}
