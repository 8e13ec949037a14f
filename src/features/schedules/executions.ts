import type { Kysely } from 'kysely'
import { type Lifecycle, refusalReasons } from '#features/workflows/executions/lifecycle.service.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import type { Ids } from '#platform/ids.ts'
import type { Outbox } from '#platform/jobs/jobs.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { ScheduleEvents } from './schedules.events.ts'
import {
  callbackData,
  type ExecutionRow,
  findExecution,
  findFirst,
  findSchedule,
  insertExecution,
  insertMissed,
  type ScheduleRow,
  updateExecution,
} from './schedules.repository.ts'

export const callbackJobs = { chat: 'schedule.chat', webhook: 'schedule.webhook' } as const

/** The job that records the ends of workflow executions. */
export const endJobName = 'schedule.ended'

interface Dependencies {
  lifecycle: Pick<Lifecycle, 'start'>
  clock: Clock
  ids: Ids
}

/** The transaction of the caller. */
export interface Change {
  agentId: string
  transaction: Kysely<AgentTables>
  outbox: Outbox<ScheduleEvents>
}

interface Started {
  status: 'running' | 'queued'
  workflow_execution_id: string | null
}

interface Occurrence {
  /** Null if a person starts it. */
  scheduled_for: string | null
  late_seconds: number
}

/** Times at which nothing was started. */
interface Missed {
  from: string
  to: string
  count: number
  error: string
}

/** Begins and ends executions, within transactions of the caller. */
export function createExecutions({ lifecycle, clock, ids }: Dependencies) {
  const blank = { missed_until: null, count: 1, executed_at: null, error: null, workflow_execution_id: null }

  function miss(transaction: Change['transaction'], schedule_id: string, missed: Missed): Promise<void> {
    const { from: time, to: missed_until, count, error } = missed
    const row = {
      ...blank,
      id: ids.record(),
      schedule_id,
      time,
      missed_until,
      count,
      error,
      status: 'missed',
    }
    return insertMissed(transaction, { ...row, scheduled_for: null, late_seconds: 0 })
  }

  return {
    miss,

    /** Starts the callback, and returns its execution, or the reason that it is missed. */
    async begin(
      change: Change,
      schedule: ScheduleRow,
      occurrence: Occurrence,
    ): Promise<ExecutionRow | string> {
      const { agentId, transaction, outbox } = change
      const { scheduled_for } = occurrence
      const now = timestamp(clock)
      const time = scheduled_for ?? now
      const id = ids.record()
      const { id: schedule_id, callback_type } = schedule
      const started = await start(lifecycle, change, schedule, time, id)
      if (typeof started === 'string') return started
      const executed_at = started.status === 'queued' ? null : now
      const row = { ...blank, id, schedule_id, time, ...occurrence, ...started, executed_at }
      await insertExecution(transaction, row)
      const event = { agent_id: agentId, schedule_id, execution_id: id, scheduled_for, callback_type }
      await outbox.emit('schedule.fired', event)
      return row
    },

    /** Records the end of a callback, unless it is known already, and starts the next queued one. */
    async end(
      { transaction, outbox }: Pick<Change, 'transaction' | 'outbox'>,
      key: 'id' | 'workflow_execution_id',
      value: string,
      error: string | null,
    ): Promise<void> {
      const execution = await findExecution(transaction, key, value)
      if (execution?.status !== 'running') return
      const { id, schedule_id } = execution
      await updateExecution(transaction, id, { status: error === null ? 'success' : 'error', error })
      const next = await findFirst(transaction, schedule_id, 'queued')
      const schedule = next && (await findSchedule(transaction, schedule_id))
      if (next === undefined || schedule === undefined) return
      await updateExecution(transaction, next.id, { status: 'running', executed_at: timestamp(clock) })
      await outbox.add(callbackJob(schedule, next.id))
    },
  }
}

export type Executions = ReturnType<typeof createExecutions>

export function callbackJob({ callback_type }: ScheduleRow, executionId: string) {
  const name = callbackJobs[callback_type as keyof typeof callbackJobs]
  return { name, payload: { executionId }, key: `callback:${executionId}` }
}

/** Starts the callback; returns the reason if it can't. */
async function start(
  lifecycle: Dependencies['lifecycle'],
  change: Change,
  schedule: ScheduleRow,
  time: string,
  id: string,
) {
  const { transaction, outbox } = change
  const { callback_type, callback_id, overlap } = schedule
  if (callback_type === 'workflow') {
    const started = await lifecycle.start(transaction, outbox, {
      workflow_id: callback_id ?? '',
      input: {
        ...callbackData(schedule),
        schedule: { id: schedule.id, name: schedule.name, scheduled_for: time },
      },
      cause: { kind: 'schedule', ref: schedule.id },
      when_busy: overlap === 'queue' ? 'queue' : 'refuse',
      end_job: endJobName,
    })
    if ('refused' in started) return refusalReasons[started.refused]
    return { status: 'running', workflow_execution_id: started.execution_id } satisfies Started
  }
  const isBusy = (await findFirst(transaction, schedule.id, 'running')) !== undefined
  if (isBusy && overlap === 'skip') return 'The one before was still running.'
  if (!isBusy) await outbox.add(callbackJob(schedule, id))
  return { status: isBusy ? 'queued' : 'running', workflow_execution_id: null } satisfies Started
}
