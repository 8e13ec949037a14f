/** What schedules must do, told by their documentation alone: which times are run, and which are missed. */
import { cronRuns, parseCron } from '#platform/time/cron.ts'

export interface ModelSchedule {
  /** Without one it runs once. */
  expression?: string
  next: number | undefined
  isPaused: boolean
  /** Times that were run. */
  run: Set<number>
  /** How many were missed. */
  missed: number
}

/** A schedule that is created now; one without an expression runs at `next`. */
export function modelSchedule(now: number, when: { expression: string } | { next: number }): ModelSchedule {
  const schedule = { next: undefined, isPaused: false, run: new Set<number>(), missed: 0, ...when }
  return 'expression' in when ? { ...schedule, next: firstAfter(schedule, now) } : schedule
}

/** The first time behind it that was not run. */
export function firstAfter({ expression, run }: Pick<ModelSchedule, 'expression' | 'run'>, after: number) {
  if (expression === undefined) return undefined
  return cronRuns(parseCron(expression), 'Europe/Berlin', after).find(time => !run.has(time))
}

/** What happens when it is looked at `now`: the latest of the times that are due is run, the others are missed. */
export function look(schedule: ModelSchedule, now: number): void {
  const due: number[] = []
  while (!schedule.isPaused && schedule.next !== undefined && schedule.next <= now) {
    if (!schedule.run.has(schedule.next)) due.push(schedule.next)
    schedule.next = firstAfter(schedule, schedule.next)
  }
  const latest = due.pop()
  if (latest !== undefined) schedule.run.add(latest)
  schedule.missed += due.length
}
