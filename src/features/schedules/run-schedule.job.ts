import type { Clock } from '#platform/clock.ts'
import type { Ids } from '#platform/ids.ts'
import type { JobContext, JobHandler, NewJob, Transact } from '#platform/jobs/jobs.ts'
import { JobYields } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { BeginExecution } from './begin-execution.ts'
import { dueRuns } from './runs.ts'
import type { ScheduleEvents } from './schedules.events.ts'
import type { ScheduleRow } from './schedules.repository.ts'
import { findSchedule, insertExecution, isRecorded, saveSchedule } from './schedules.repository.ts'

export const timerJobName = 'schedule.run'

/** Its key tells it from the timer that adds it. */
export function timerJob({ id, next_run }: Pick<ScheduleRow, 'id' | 'next_run'>): NewJob & { key: string } {
  const at = next_run ?? ''
  return { name: timerJobName, key: `schedule:${id}@${at}`, payload: { id, at }, runAt: Date.parse(at) }
}

interface Dependencies {
  transact: Transact<ScheduleEvents>
  isActive(agentId: string): Promise<boolean>
  begin: BeginExecution
  clock: Clock
  ids: Ids
}

/** The timer of a schedule: begins what is due, and adds the next one, in one transaction. */
export function createRunSchedule({ transact, isActive, begin, clock, ids }: Dependencies) {
  async function run({ agent, payload }: JobContext<AgentHandle>, failure?: string): Promise<void> {
    const { id, at } = payload as { id: string; at: string }
    const found = await findSchedule(agent.db, id)
    // A timer that was cancelled may have begun already.
    if (found?.status !== 'active' || found.next_run !== at) return
    const due = await dueRuns(found, at, clock.now())
    const refusal = failure ?? ((await isActive(agent.agentId)) ? undefined : 'The agent was not active.')
    await transact(agent, async (transaction, outbox) => {
      const schedule = await findSchedule(transaction, id)
      if (schedule === undefined || JSON.stringify(schedule) !== JSON.stringify(found)) throw new JobYields()
      const { run: time, next: next_run, missed } = due
      if (missed !== undefined && !(await isRecorded(transaction, id, missed.from)))
        await insertExecution(transaction, missedExecution(ids.record(), id, missed))
      const lateSeconds = Math.floor((clock.now() - Date.parse(time)) / 1000)
      const begun = await begin(agent.agentId, transaction, outbox, schedule, { time, lateSeconds, refusal })
      const last_run = begun?.executed_at ?? schedule.last_run
      const status = next_run === null ? 'completed' : schedule.status
      const after = { ...schedule, status, next_run, last_run }
      await saveSchedule(transaction, after)
      if (next_run !== null) await outbox.add(timerJob(after))
    })
  }

  const handler: JobHandler<AgentHandle> = {
    lane: 'timers',
    run: context => run(context),
    // A fault of ours ends no schedule.
    onFailed: (context, error) => run(context, `It could not be started: ${error}`),
  }
  return handler
}

function missedExecution(
  id: string,
  schedule_id: string,
  { from, to, count }: { from: string; to: string; count: number },
) {
  return {
    id,
    schedule_id,
    scheduled_for: from,
    executed_at: null,
    status: 'missed',
    error: 'The service was not running then.',
    workflow_execution_id: null,
    late_seconds: 0,
    missed_count: count,
    missed_to: to,
  }
}
