/** The times of schedules. Loaded at its first use, with the libraries for expressions and time zones. */
import { invalid } from '#platform/errors.ts'
import { cronRuns, parseCron } from '#platform/time/cron.ts'
import { findDue } from '#platform/time/due.ts'
import { readTime } from '#platform/time/written-time.ts'
import { isTimeZone } from '#platform/time/zones.ts'
import type { ScheduleRow } from './schedules.repository.ts'
import type { ScheduleChanges } from './schedules.schema.ts'

/** The field with the time, by type. */
const fields = { cron: 'cron_expression', once: 'next_run', delayed: 'delay_seconds' } as const

/** Returns the schedule to store, with its next time. @throws AppError VALIDATION_ERROR */
export function withChanges(before: ScheduleRow, changes: ScheduleChanges, now: number): ScheduleRow {
  const { name, callback_id, overlap, callback_data: data, status: wanted } = { ...before, ...changes }
  const callback_data = typeof data === 'string' ? data : JSON.stringify(data)
  const isTimed = [...Object.values(fields), 'timezone' as const].some(field => changes[field] !== undefined)
  const isEnded = before.status === 'completed'
  if (isEnded && wanted === 'paused')
    throw invalid('status', 'is completed, so that there is nothing to pause')
  const status = isEnded && isTimed && changes.status === undefined ? 'active' : wanted
  const named = { name, callback_id, callback_data, overlap, status, updated_at: textOf(now) }
  const after = { ...withTimes(before, changes), ...named }
  if (status === 'active' && (isTimed || before.status !== 'active'))
    return { ...after, next_run: firstRun(after, now) }
  return status === 'active' || after.type === 'once' ? after : { ...after, next_run: null }
}

function withTimes(before: ScheduleRow, changes: ScheduleChanges): ScheduleRow {
  const { timezone, cron_expression, delay_seconds } = { ...before, ...changes }
  const type = before.type as keyof typeof fields
  const own = fields[type]
  const other = Object.values(fields).find(field => field !== own && changes[field] !== undefined)
  if (other !== undefined) throw invalid(other, `is not for the type ${type}; set ${own}`)
  if (!isTimeZone(timezone)) throw invalid('timezone', 'must be a name such as Europe/Berlin')
  if (cron_expression !== null) parseCron(cron_expression)
  const { next_run: text } = changes
  const next_run =
    text === undefined ? before.next_run : textOf(readTime('next_run', text, { timeZone: timezone }))
  const after = { ...before, timezone, cron_expression, delay_seconds, next_run }
  if (after[own] === null && before.status !== 'completed')
    throw invalid(own, `is needed by the type ${type}`)
  return after
}

/** Returns the first run after the schedule is created, changed or resumed at `now`. */
function firstRun(schedule: ScheduleRow, now: number): string {
  const { type, delay_seconds, next_run } = schedule
  if (type === 'delayed') return textOf(now + (delay_seconds ?? 0) * 1000)
  if (type === 'cron') return textOf(Number(runsAfter(schedule, now).next().value))
  if (next_run !== null && Date.parse(next_run) > now) return next_run
  throw invalid('next_run', 'must be a time in the future')
}

/** Returns the next five runs; none unless the schedule is active. */
export function nextRuns(schedule: ScheduleRow): string[] {
  const { type, status, next_run } = schedule
  if (status !== 'active' || next_run === null) return []
  const later = type === 'cron' ? [...runsAfter(schedule, Date.parse(next_run)).take(4)] : []
  return [next_run, ...later.map(textOf)]
}

/** Returns the work of its timer, which was set for `at`; `done` are times that were run before. */
export function dueRuns(schedule: ScheduleRow, at: string, done: ReadonlySet<string>, now: number) {
  return findDue(unlessDone(schedule, Date.parse(at), done), now)
}

function* unlessDone(schedule: ScheduleRow, at: number, done: ReadonlySet<string>): Generator<number> {
  if (!done.has(textOf(at))) yield at
  if (schedule.type !== 'cron') return
  for (const time of runsAfter(schedule, at)) if (!done.has(textOf(time))) yield time
}

function runsAfter({ cron_expression, timezone }: ScheduleRow, after: number): Generator<number> {
  return cronRuns(parseCron(cron_expression ?? ''), timezone, after)
}

export function textOf(time: number): string {
  return new Date(time).toISOString()
}
