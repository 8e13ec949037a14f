import type { Kysely } from 'kysely'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import type { Ids } from '#platform/ids.ts'
import type { Outbox } from '#platform/jobs/jobs.ts'
import type { AgentTables } from '#storage/tables.ts'
import { callbackJobs } from './run-callback.job.ts'
import type { ScheduleEvents } from './schedules.events.ts'
import type { ExecutionRow, ScheduleRow } from './schedules.repository.ts'
import { findRunning, insertExecution, isRecorded } from './schedules.repository.ts'

type Database = Kysely<AgentTables>

type Jobs = Pick<Outbox, 'add' | 'cancel'>

/** Begins an execution of a workflow in a transaction of the caller. */
export type StartWorkflow = (
  transaction: Database,
  outbox: Jobs,
  request: {
    workflow_id: string
    input: Record<string, unknown>
    cause: { kind: 'schedule' | 'calendar'; ref: string }
    when_busy: 'refuse' | 'queue'
  },
) => Promise<{ execution_id: string } | { refused: 'busy' | 'inactive' | 'missing' | 'full' }>

const refusals = {
  busy: 'The workflow was still running.',
  inactive: 'The workflow was not active.',
  missing: 'The workflow was deleted.',
  full: 'Too many executions of the workflow were waiting.',
}

interface Dependencies {
  startWorkflow: StartWorkflow
  clock: Clock
  ids: Ids
}

interface Occurrence {
  time: string
  lateSeconds?: number
  /** Why nothing is started. */
  refusal?: string | undefined
}

/** Starts the callback and records the execution, which is `missed` if nothing was started. */
export function createBeginExecution({ startWorkflow, clock, ids }: Dependencies) {
  /** The workflow's execution, if there is one; otherwise why nothing was started. */
  async function start(transaction: Database, outbox: Jobs, schedule: ScheduleRow, id: string, time: string) {
    const { callback_type, callback_id, overlap } = schedule
    if (callback_type === 'workflow') {
      const { input } = JSON.parse(schedule.callback_data)
      const started = await startWorkflow(transaction, outbox, {
        workflow_id: callback_id ?? '',
        input: { ...input, schedule: { id: schedule.id, name: schedule.name, scheduled_for: time } },
        cause: { kind: 'schedule', ref: schedule.id },
        when_busy: overlap === 'queue' ? 'queue' : 'refuse',
      })
      return 'refused' in started
        ? { refusal: refusals[started.refused] }
        : { execution: started.execution_id }
    }
    const running = await findRunning(transaction, schedule.id)
    if (running !== undefined && overlap === 'skip') return { refusal: 'The one before was still running.' }
    await outbox.add({
      name: callbackJobs[callback_type as 'chat' | 'webhook'],
      payload: { executionId: id },
    })
    return {}
  }

  /** Undefined, and nothing happens, if there is an execution for that time already. */
  return async (
    agentId: string,
    transaction: Database,
    outbox: Outbox<ScheduleEvents>,
    schedule: ScheduleRow,
    { time, lateSeconds = 0, refusal: given }: Occurrence,
  ): Promise<ExecutionRow | undefined> => {
    if (await isRecorded(transaction, schedule.id, time)) return undefined
    const id = ids.record()
    const { refusal, execution = null } =
      given === undefined ? await start(transaction, outbox, schedule, id, time) : { refusal: given }
    const isMissed = refusal !== undefined
    const row: ExecutionRow = {
      id,
      schedule_id: schedule.id,
      scheduled_for: time,
      executed_at: isMissed ? null : timestamp(clock),
      status: isMissed ? 'missed' : 'running',
      error: refusal ?? null,
      workflow_execution_id: execution,
      late_seconds: lateSeconds,
      missed_count: isMissed ? 1 : 0,
      missed_to: isMissed ? time : null,
    }
    await insertExecution(transaction, row)
    const { callback_type } = schedule
    const fired = { agentId, schedule_id: schedule.id, execution_id: id, scheduled_for: time, callback_type }
    if (!isMissed) await outbox.emit('schedule.fired', fired)
    return row
  }
}

export type BeginExecution = ReturnType<typeof createBeginExecution>
