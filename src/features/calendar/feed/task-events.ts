import { occurrences, type Series, wallTimesAt } from '#platform/time/recurrence.ts'
import { offsetAt } from '#platform/time/zones.ts'
import { type TaskRow, toSeries } from '../calendar.repository.ts'
import { dateTime, escapeText } from './content-lines.ts'

const weekdays = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']

/** One event of a feed: its recurrence rule, if any, and its identity among the events of its task. */
interface EventRule {
  rule?: string
  suffix: string
  /** Returns true for an occurrence of this event. */
  holds(wallTime: Date): boolean
}

/** Yields the lines of a task: an event, or two if no single rule gives its months. */
export function* taskLines(row: TaskRow, cancelled: readonly string[]): Generator<string> {
  const zone = isZoned(row) ? row.timezone : 'UTC'
  const series = { ...toSeries(row), timezone: zone }
  for (const { rule, suffix, holds } of rulesOf(series)) {
    const [start, wall] = firstStart({ ...series, exceptions: [] }, holds) ?? []
    if (start === undefined || wall === undefined) continue
    yield 'BEGIN:VEVENT'
    yield `UID:${row.id}${suffix}@agentstead`
    yield `DTSTAMP:${dateTime(Date.parse(row.updated_at))}Z`
    yield `DTSTART${at(wall, zone)}`
    if (row.end_time !== null) {
      const end = start + Date.parse(row.end_time) - Date.parse(row.start_time)
      yield `DTEND${at(end + offsetAt(end, zone), zone)}`
    }
    if (rule !== undefined) {
      const { recurrence_end: end } = series
      yield `RRULE:${rule}${end === null ? '' : `;UNTIL=${dateTime(Date.parse(end))}Z`}`
      yield* exceptionLines(series, wall, cancelled)
    }
    yield `SUMMARY:${escapeText(row.title)}`
    if (row.description !== '') yield `DESCRIPTION:${escapeText(row.description)}`
    if (row.status === 'cancelled') yield 'STATUS:CANCELLED'
    yield 'END:VEVENT'
  }
}

/** Returns true if its times belong to a zone: only recurring tasks depend on the zone's changes. */
export function isZoned({ recurrence, timezone }: Pick<TaskRow, 'recurrence' | 'timezone'>): boolean {
  return recurrence !== 'none' && timezone !== 'UTC'
}

function rulesOf({ recurrence, recurrence_days, start_time, timezone }: Series): EventRule[] {
  const always = { suffix: '', holds: () => true }
  if (recurrence === 'none') return [always]
  if (recurrence === 'daily') return [{ ...always, rule: 'FREQ=DAILY' }]
  if (recurrence === 'weekly') {
    const days = recurrence_days.map(day => weekdays[day])
    return [{ ...always, rule: `FREQ=WEEKLY;BYDAY=${days.join(',')}` }]
  }
  const start = Date.parse(start_time)
  const day = new Date(start + offsetAt(start, timezone)).getUTCDate()
  if (day < 29) return [{ ...always, rule: `FREQ=MONTHLY;BYMONTHDAY=${day}` }]
  if (day === 31) return [{ ...always, rule: 'FREQ=MONTHLY;BYMONTHDAY=-1' }]
  // BYSETPOS would need only one rule, but not every program reads it.
  const isFebruary = (wallTime: Date) => wallTime.getUTCMonth() === 1
  const others = 'FREQ=MONTHLY;BYMONTH=1,3,4,5,6,7,8,9,10,11,12'
  return [
    { suffix: '', rule: `${others};BYMONTHDAY=${day}`, holds: wallTime => !isFebruary(wallTime) },
    { suffix: '-february', rule: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1', holds: isFebruary },
  ]
}

function firstStart(series: Series, holds: EventRule['holds']): [instant: number, wall: number] | undefined {
  // A year has all months.
  for (const time of occurrences(series).take(12)) {
    const wall = wallTimesAt(series, time).find(one => holds(new Date(one)))
    if (wall !== undefined) return [time, wall]
  }
}

/** Returns times in the form of the rule, even if a gap moves the occurrence: programs compare both. */
function* exceptionLines(series: Series, wall: number, cancelled: readonly string[]) {
  const timeOfDay = dateTime(wall).slice(8)
  const dates = series.exceptions.map(date => date.replaceAll('-', '') + timeOfDay)
  const times = cancelled.flatMap(time => wallTimesAt(series, Date.parse(time)).map(dateTime))
  for (const time of [...dates, ...times])
    yield series.timezone === 'UTC' ? `EXDATE:${time}Z` : `EXDATE;TZID=${series.timezone}:${time}`
}

function at(wall: number, zone: string): string {
  return zone === 'UTC' ? `:${dateTime(wall)}Z` : `;TZID=${zone}:${dateTime(wall)}`
}
