/** Reads times as people and programs write them: ISO 8601, and RFC 9557 with time zones and other tags in brackets. */
import { invalid } from '../errors.ts'
import { dayMs } from './recurrence.ts'
import { instantOf, isTimeZone, offsetAt } from './zones.ts'

interface Instant {
  /** Milliseconds since the epoch. */
  milliseconds: number
  /** The digits behind the milliseconds, without zeros at the end. */
  rest: string
}

interface Issue {
  issue: string
}

export interface Reading {
  /** The zone of texts with neither an offset nor a zone of their own; without it, such texts are refused. */
  timeZone?: string
  /** The bound of a range. A date without a time is its own beginning, and its end in a `to`. */
  bound?: 'from' | 'to'
  /** True if skipped wall times are refused; else they are moved forward by the gap. */
  refuseGaps?: boolean
}

const form =
  /^(?<year>\d{4})(?<dash>-?)(?<month>\d\d)\k<dash>(?<day>\d\d)(?:[T ](?<hour>\d\d)(?:(?<colon>:?)(?<minute>\d\d)(?:\k<colon>(?<second>\d\d)(?:[.,](?<fraction>\d+))?)?)?(?: ?(?<offset>Z|[+\-\u2212]\d\d(?::?\d\d){0,2}))?)?(?<tags>(?:\[[^\][]+\])*)$/i
const otherDate = /^\d{4}-?(?:W\d\d|\d{3}(?!\d))/i
const tag = /^[a-z_][\da-z_-]*=[\da-zA-Z]+(?:-[\da-zA-Z]+)*$/

/** Returns epoch milliseconds; fractions are cut, in a `from` rounded up. Throws VALIDATION_ERROR. */
export function readTime(field: string, text: string, reading: Reading): number {
  const parsed = parseTime(text, reading)
  if ('issue' in parsed) throw invalid(field, parsed.issue)
  return parsed.milliseconds + (reading.bound === 'from' && parsed.rest !== '' ? 1 : 0)
}

/** Returns a text in order of time, for times with an offset or a zone. Undefined for all others. */
export function sortableTime(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 128 || !/^\d{4}-?\d\d-?\d\d[T ]/i.test(value)) return
  const parsed = parseTime(value)
  return 'issue' in parsed ? undefined : textOf(parsed.milliseconds).slice(0, -1) + parsed.rest
}

export function parseTime(text: string, reading: Reading = {}): Instant | Issue {
  const parts = form.exec(text)?.groups
  // Eight digits alone can be any number.
  if (parts === undefined || (parts.dash === '' && parts.hour === undefined))
    return {
      issue: otherDate.test(text)
        ? 'is a date by week or by day of the year; write its month and day, as in 2027-01-31T09:00:00Z'
        : 'must be an ISO 8601 date or time, such as 2027-01-31T09:00:00Z',
    }
  const wall = wallTime(parts, reading)
  const milliseconds = typeof wall === 'number' ? toInstant(wall, parts, reading) : wall
  if (typeof milliseconds !== 'number') return milliseconds
  if (milliseconds < Date.parse('0000-01-01T00:00Z') || milliseconds >= Date.UTC(10_000, 0))
    return { issue: 'must be within the years 0000 to 9999' }
  return { milliseconds, rest: (parts.fraction ?? '').slice(3).replace(/0+$/, '') }
}

function wallTime(parts: Record<string, string | undefined>, { bound }: Reading): number | Issue {
  const { year, month, day, hour, minute = '00', second = '00', fraction = '' } = parts
  const date = new Date(`${year}-${month}-${day}T00:00Z`)
  if (date.getUTCDate() !== Number(day)) return { issue: 'names a day that does not exist' }
  if (hour === undefined) return date.getTime() + (bound === 'to' ? dayMs - 1 : 0)
  if (second === '60')
    return {
      issue: 'is in a leap second, which clocks here do not have; write second 59, or 00 of the next minute',
    }
  const isMidnight = hour === '24' && !/[1-9]/.test(minute + second + fraction)
  if (minute > '59' || second > '59' || (hour > '23' && !isMidnight))
    return { issue: 'names a time of day that does not exist' }
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second)
  return date.getTime() + seconds * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'))
}

function toInstant(
  wall: number,
  parts: Record<string, string | undefined>,
  reading: Reading,
): number | Issue {
  const tags = parts.tags?.match(/[^\][]+/g) ?? []
  const first = tags[0]?.includes('=') === false ? tags[0] : undefined
  const unknown = tags.slice(first === undefined ? 0 : 1).find(one => !isKnownTag(one))
  if (unknown !== undefined) return { issue: `has [${unknown}], which is not known; leave it out` }
  const zone = first?.replace(/^!/, '')
  const fixed = zone === undefined ? undefined : offsetOf(zone)
  if (zone !== undefined && fixed === undefined && !isTimeZone(zone))
    return { issue: `has [${first}], which is no time zone; write a name such as [Europe/Berlin]` }
  if (parts.offset === undefined) return fixed === undefined ? local(wall, zone, reading) : wall - fixed
  const offset = offsetOf(parts.offset)
  if (offset === undefined) return { issue: 'has an offset that does not exist; write one such as +02:00' }
  const instant = wall - offset
  // By RFC 9557, these two say nothing about local time.
  const isOpen = /^(?:Z|[-\u2212]00(?::?00){0,2})$/i.test(parts.offset)
  if (zone === undefined || isOpen || (fixed ?? offsetAt(instant, zone)) === offset) return instant
  return { issue: `has an offset that [${first}] does not have then; write only one of the two` }
}

function local(wall: number, own: string | undefined, { timeZone, refuseGaps }: Reading): number | Issue {
  const zone = own ?? timeZone
  if (zone === undefined) return { issue: 'needs its offset, as in 2027-01-31T09:00:00+01:00' }
  const instant = instantOf(wall, zone)
  if (!refuseGaps || instant + offsetAt(instant, zone) === wall) return instant
  return { issue: `does not exist in ${zone}, where clocks skip it on that day; write another day or time` }
}

/** Returns milliseconds, 0 for `Z`; undefined for a text that is no offset. */
function offsetOf(text: string): number | undefined {
  if (/^z$/i.test(text)) return 0
  if (!/^[+\-\u2212]\d\d(?::?\d\d){0,2}$/.test(text)) return
  const [hours = '', minutes = '00', seconds = '00'] = text.match(/\d\d/g) ?? []
  if (hours > '23' || minutes > '59' || seconds > '59') return
  const size = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
  return text.startsWith('+') ? size : -size
}

/** Returns true for a tag without effect: a calendar changes only the display, like all uncritical tags. */
function isKnownTag(text: string): boolean {
  if (!text.startsWith('!')) return tag.test(text)
  return text.startsWith('!u-ca=') && Intl.supportedValuesOf('calendar').includes(text.slice(6))
}

function textOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
