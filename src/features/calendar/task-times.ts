/** Reads times of tasks, and finds the next ones. Loaded at its first use, with the time zone library. */
import { invalid } from '#platform/errors.ts'
import { findDue } from '#platform/time/due.ts'
import { dayMs, occurrences, weekdayOf } from '#platform/time/recurrence.ts'
import { type Reading, readTime } from '#platform/time/written-time.ts'
import { instantOf, isTimeZone, offsetAt } from '#platform/time/zones.ts'
import { type TaskRow, toSeries } from './calendar.repository.ts'
import type { TaskChanges } from './calendar.schema.ts'

const never = '9999-12-31T23:59:59.999Z'

/** Returns the task to store, with its next due time. @throws AppError VALIDATION_ERROR */
export function withChanges(before: TaskRow, changes: TaskChanges, now: number): TaskRow {
  const { title, description, recurrence, workflow_id, timezone, status } = { ...before, ...changes }
  if (!isTimeZone(timezone)) throw invalid('timezone', 'must be a name such as Europe/Berlin')
  const { exceptions, recurrence_days: days } = changes
  const plain = { title, description, recurrence, workflow_id, timezone, status }
  const after = {
    ...before,
    ...plain,
    ...readTimes(before, changes, timezone, recurrence !== 'none'),
    recurrence_days: JSON.stringify(days ?? (changes.recurrence ? [] : JSON.parse(before.recurrence_days))),
    exceptions: exceptions === undefined ? before.exceptions : JSON.stringify(exceptions),
    updated_at: textOf(now),
  }
  const series = withDays(after)
  const hasMoved = after.start_time !== before.start_time && Date.parse(after.start_time) > now
  const isAgain = recurrence === 'none' && hasMoved && changes.status === undefined
  if (isAgain && status !== 'cancelled') series.status = 'pending'
  const next = series.status === 'pending' ? occurrences(toSeries(series), now).next().value : undefined
  return { ...series, ends_at: endOf(series), next_due: next === undefined ? null : textOf(Number(next)) }
}

function readTimes(before: TaskRow, changes: TaskChanges, timezone: string, recurs: boolean) {
  const read = (field: 'start_time' | 'end_time' | 'recurrence_end', reading: Reading = {}) => {
    const text = changes[field]
    if (text === undefined || text === null) return text === null ? null : before[field]
    const time = readTime(field, text, { ...reading, timeZone: timezone })
    if (time < 0 || time >= Date.UTC(9999, 0)) throw invalid(field, 'must be within the years 1970 to 9998')
    return textOf(time)
  }
  // A series has one time of the day, which days can skip, except the first.
  const start_time = read('start_time', { refuseGaps: recurs }) ?? ''
  const wall = Date.parse(start_time) + offsetAt(Date.parse(start_time), timezone)
  const first = textOf(instantOf(wall, timezone))
  if (recurs && first !== start_time)
    throw invalid(
      'start_time',
      `is the second of two equal times of its day; a series is at the first: write ${first}`,
    )
  const end_time = read('end_time')
  const recurrence_end = read('recurrence_end', { bound: 'to' })
  if (end_time !== null && end_time < start_time) throw invalid('end_time', 'must not be before start_time')
  if (recurrence_end !== null && recurrence_end < start_time)
    throw invalid('recurrence_end', 'must not be before start_time')
  return { start_time, end_time, recurrence_end }
}

/** Adds the weekday of the start to a `weekly` task without days. */
function withDays(row: TaskRow): TaskRow {
  const days: number[] = JSON.parse(row.recurrence_days)
  if (row.recurrence !== 'weekly' && days.length > 0)
    throw invalid('recurrence_days', 'are for the recurrence weekly')
  if (row.recurrence !== 'weekly' || days.length > 0) return row
  const start = Date.parse(row.start_time)
  const day = Math.floor((start + offsetAt(start, row.timezone)) / dayMs)
  return { ...row, recurrence_days: JSON.stringify([weekdayOf(day)]) }
}

function endOf({ recurrence, recurrence_end, start_time, end_time }: TaskRow): string {
  if (recurrence === 'none') return end_time ?? start_time
  if (recurrence_end === null) return never
  const duration = Date.parse(end_time ?? start_time) - Date.parse(start_time)
  return textOf(Math.min(Date.parse(recurrence_end) + duration, Date.parse(never)))
}

/** Returns the start of an occurrence, which must be one of the task. @throws AppError VALIDATION_ERROR */
export function startOf(row: TaskRow, text: string): string {
  const time = readTime('occurrence', text, { timeZone: row.timezone })
  if (occurrencesBetween(row, { from: time, to: time }).length === 0)
    throw invalid('occurrence', 'must be the time at which an occurrence of the task begins')
  return textOf(time)
}

/** Returns the work of its timer, which was set for `at`. */
export function dueOccurrences(row: TaskRow, at: string, now: number) {
  return findDue(occurrences(toSeries(row), Date.parse(at)), now)
}

/** Returns its occurrences between two of its times, inclusive. */
export function occurrencesBetween(row: TaskRow, { from, to }: { from: number; to: number }): string[] {
  const found: string[] = []
  for (const time of occurrences(toSeries(row), from)) {
    if (time > to) break
    found.push(textOf(time))
  }
  return found
}

export function textOf(time: number): string {
  return new Date(time).toISOString()
}
