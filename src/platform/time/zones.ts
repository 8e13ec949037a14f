/**
 * Time zones. Instants are milliseconds since the epoch. So are wall times, which are what a clock on the wall shows: the
 * instant at which a clock in UTC shows the same.
 */
import { createRequire } from 'node:module'
import type { Temporal } from 'temporal-polyfill'

const load = createRequire(import.meta.url)

let loaded: typeof Temporal | undefined

/** Loaded at its first use: many processes need no zone but UTC, and the library takes time and memory. */
function library(): typeof Temporal {
  loaded ??= load('temporal-polyfill').Temporal as typeof Temporal
  return loaded
}

/** Whether it names a time zone of the IANA database; offsets such as `+02:00` are none. */
export function isTimeZone(name: string): boolean {
  if (!/^[a-z][\w+/-]*$/i.test(name)) return false
  try {
    offsetAt(0, name)
    return true
  } catch {
    return false
  }
}

/** How far wall time is ahead of UTC, in milliseconds. */
export function offsetAt(instant: number, timeZone: string): number {
  if (timeZone === 'UTC') return 0
  return zonedTime(instant, timeZone).offsetNanoseconds / 1e6
}

/** When the offset changes next; undefined if it never does. */
export function nextTransition(instant: number, timeZone: string): number | undefined {
  return zonedTime(instant, timeZone).getTimeZoneTransition('next')?.epochMilliseconds
}

/** A wall time in a gap is moved forward by the gap, and one that occurs twice is the first, as RFC 5545 has it. */
export function instantOf(wallTime: number, timeZone: string): number {
  if (timeZone === 'UTC') return wallTime
  const wall = zonedTime(wallTime, 'UTC').toPlainDateTime()
  return wall.toZonedDateTime(timeZone, { disambiguation: 'compatible' }).epochMilliseconds
}

function zonedTime(instant: number, timeZone: string): Temporal.ZonedDateTime {
  return library().Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timeZone)
}
