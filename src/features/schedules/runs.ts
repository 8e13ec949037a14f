import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { invalid } from '#platform/errors.ts'
import { cronRuns, parseCron } from '#platform/time/cron.ts'
import type { ScheduleRow } from './schedules.repository.ts'

type Timed = Pick<ScheduleRow, 'type' | 'cron_expression' | 'delay_seconds' | 'timezone' | 'next_run'>

/** Runs that are counted until others get their turn. */
const batch = 200

/** When it runs first, as it is begun or resumed `now`. */
export function firstRun(schedule: Timed, now: number): string {
  const { type, delay_seconds, next_run } = schedule
  if (type === 'delayed') return toText(now + (delay_seconds ?? 0) * 1000)
  if (type === 'cron') return toText(Number(runsAfter(schedule, now).next().value))
  if (next_run !== null && Date.parse(next_run) > now) return next_run
  throw invalid('next_run', 'must be a time in the future')
}

/** The next five. */
export function nextRuns(schedule: Timed): string[] {
  const { type, next_run } = schedule
  if (next_run === null) return []
  if (type !== 'cron') return [next_run]
  const later = runsAfter(schedule, Date.parse(next_run)).take(4)
  return [next_run, ...later.map(toText)]
}

export interface DueRuns {
  /** The latest one that is due. */
  run: string
  /** Those before it, which nobody was there to begin. */
  missed: { from: string; to: string; count: number } | undefined
  next: string | null
}

/** What is to be done `now`, at or behind the time of the schedule's timer. */
export async function dueRuns(schedule: Timed, at: string, now: number): Promise<DueRuns> {
  let run = at
  let missed: DueRuns['missed']
  if (schedule.type !== 'cron') return { run, missed, next: null }
  for (const next of runsAfter(schedule, Date.parse(at))) {
    if (next > now) return { run, missed, next: toText(next) }
    missed = { from: at, to: run, count: (missed?.count ?? 0) + 1 }
    run = toText(next)
    if (missed.count % batch === 0) await yieldToOthers()
  }
  return { run, missed, next: null }
}

function runsAfter({ cron_expression, timezone }: Timed, after: number): Generator<number> {
  return cronRuns(parseCron(cron_expression ?? ''), timezone, after)
}

export function toText(time: number): string {
  return new Date(time).toISOString()
}
