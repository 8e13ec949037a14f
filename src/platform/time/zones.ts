/**
 * Time zones. Instants are milliseconds since the epoch. A wall time, which a local clock shows, is the
 * instant at which a clock in UTC shows the same.
 */
import { createRequire } from 'node:module'
import type { Temporal } from 'temporal-polyfill'

const load = createRequire(import.meta.url)

let loaded: typeof Temporal | undefined

/** Loads the library at its first use: many processes need no zone but UTC, and it takes time and memory. */
function library(): typeof Temporal {
  loaded ??= load('temporal-polyfill').Temporal as typeof Temporal
  return loaded
}

/** Returns true for the name of a time zone of the IANA database; offsets such as `+02:00` are none. */
export function isTimeZone(name: string): boolean {
  if (!/^[a-z][\w+/-]*$/i.test(name)) return false
  try {
    offsetAt(0, name)
    return true
  } catch {
    return false
  }
}

/** Returns the milliseconds that wall time is ahead of UTC. */
export function offsetAt(instant: number, timeZone: string): number {
  if (timeZone === 'UTC') return 0
  return zonedTime(instant, timeZone).offsetNanoseconds / 1e6
}

/** Returns the time of the offset's next change; undefined if it never changes. */
export function nextTransition(instant: number, timeZone: string): number | undefined {
  return zonedTime(instant, timeZone).getTimeZoneTransition('next')?.epochMilliseconds
}

/** Returns the instant: a wall time in a gap is moved forward, and a repeated one is its first (RFC 5545). */
export function instantOf(wallTime: number, timeZone: string): number {
  if (timeZone === 'UTC') return wallTime
  const wall = zonedTime(wallTime, 'UTC').toPlainDateTime()
  return wall.toZonedDateTime(timeZone, { disambiguation: 'compatible' }).epochMilliseconds
}

function zonedTime(instant: number, timeZone: string): Temporal.ZonedDateTime {
  return library().Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timeZone)
}
