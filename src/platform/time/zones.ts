/**
 * Time zones. Instants are milliseconds since the epoch. So are wall times, which are what a clock on the wall shows: the
 * instant at which a clock in UTC shows the same.
 */
import { Temporal } from 'temporal-polyfill'

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
  return zonedTime(instant, timeZone).offsetNanoseconds / 1e6
}

/** When the offset changes next; undefined if it never does. */
export function nextTransition(instant: number, timeZone: string): number | undefined {
  return zonedTime(instant, timeZone).getTimeZoneTransition('next')?.epochMilliseconds
}

/** A wall time in a gap is moved forward by the gap, and one that occurs twice is the first, as RFC 5545 has it. */
export function instantOf(wallTime: number, timeZone: string): number {
  const wall = zonedTime(wallTime, 'UTC').toPlainDateTime()
  return wall.toZonedDateTime(timeZone, { disambiguation: 'compatible' }).epochMilliseconds
}

/** Reads ISO 8601, which is wall time in the zone unless it has an offset; undefined if it is no time, or beyond our years. */
export function readTime(text: string, timeZone: string): number | undefined {
  try {
    const hasOffset = /T.*(?:Z|[+-]\d\d:?\d\d)$/i.test(text)
    const wall = () => Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone).epochMilliseconds
    const instant = hasOffset ? Temporal.Instant.from(text).epochMilliseconds : wall()
    return instant >= 0 && instant < Date.UTC(9999, 0) ? instant : undefined
  } catch {
    return undefined
  }
}

function zonedTime(instant: number, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timeZone)
}
