import { type Clock, timestamp } from '#platform/clock.ts'
import {
  type JobContext,
  type JobHandler,
  JobYields,
  type NewJob,
  type Transact,
} from '#platform/jobs/jobs.ts'
import type { Due } from '#platform/time/due.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Change, Executions } from './executions.ts'
import type { ScheduleEvents } from './schedules.events.ts'
import { findSchedule, listDone, type ScheduleRow, saveSchedule } from './schedules.repository.ts'

export const timerJobName = 'schedule.run'

/** Its key differs from that of the timer that adds it. */
export function timerJob({ id, next_run }: Pick<ScheduleRow, 'id' | 'next_run'>): NewJob & { key: string } {
  const at = next_run ?? ''
  return { name: timerJobName, key: `schedule:${id}@${at}`, payload: { id, at }, runAt: Date.parse(at) }
}

interface Dependencies {
  transact: Transact<ScheduleEvents>
  isActive(agentId: string): Promise<boolean>
  executions: Executions
  clock: Clock
}

/** The timer of a schedule: begins due runs, and sets the next timer, in one transaction. */
export function createRunSchedule({ transact, isActive, executions, clock }: Dependencies) {
  /** Returns the time of the last run. `refusal` is the reason that nothing may be started. */
  async function begin(change: Change, schedule: ScheduleRow, due: Due, refusal: string | undefined) {
    const miss = ({ from, to, count }: NonNullable<Due['missed']>, error: string) =>
      executions.miss(change.transaction, schedule.id, { from: textOf(from), to: textOf(to), count, error })
    if (due.missed !== undefined) await miss(due.missed, refusal ?? 'The service was not running then.')
    const { run } = due
    if (run === undefined) return schedule.last_run
    const late_seconds = Math.floor((clock.now() - run) / 1000)
    const occurrence = { scheduled_for: textOf(run), late_seconds }
    const begun = refusal ?? (await executions.begin(change, schedule, occurrence))
    if (typeof begun !== 'string') return timestamp(clock)
    await miss({ from: run, to: run, count: 1 }, begun)
    return schedule.last_run
  }

  async function run({ agent, payload }: JobContext<AgentHandle>, failure?: string): Promise<void> {
    const { id, at } = payload as { id: string; at: string }
    const { db, agentId } = agent
    const found = await findSchedule(db, id)
    // A cancelled timer might have begun already.
    if (found?.status !== 'active' || found.next_run !== at) return
    const { dueRuns } = await import('./schedule-times.ts')
    const due = await dueRuns(found, at, await listDone(db, id, at), clock.now())
    const refusal = failure ?? ((await isActive(agentId)) ? undefined : 'The agent was not active.')
    await transact(agent, async (transaction, outbox) => {
      const schedule = await findSchedule(transaction, id)
      if (JSON.stringify(schedule) !== JSON.stringify(found)) throw new JobYields()
      const last_run = await begin({ agentId, transaction, outbox }, found, due, refusal)
      const next_run = due.next === undefined ? null : textOf(due.next)
      const status = next_run === null ? 'completed' : found.status
      await saveSchedule(transaction, { ...found, status, next_run, last_run })
      if (next_run !== null) await outbox.add(timerJob({ id, next_run }))
    })
  }

  const handler: JobHandler<AgentHandle> = {
    lane: 'timers',
    run: context => run(context),
    // A fault of the service ends no schedule.
    onFailed: (context, error) => run(context, `It could not be started: ${error}`),
  }
  return handler
}

function textOf(time: number): string {
  return new Date(time).toISOString()
}
