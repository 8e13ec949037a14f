import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { conflict, notFound } from '#platform/errors.ts'
import type { Ids } from '#platform/ids.ts'
import type { Outbox, Transact } from '#platform/jobs/jobs.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { BeginExecution } from './begin-execution.ts'
import { timerJob } from './run-schedule.job.ts'
import { firstRun, nextRuns } from './runs.ts'
import { requireCallback, saysWhen, unset, withChanges } from './schedule-changes.ts'
import type { ScheduleEvents } from './schedules.events.ts'
import type { ScheduleRow } from './schedules.repository.ts'
import {
  deleteSchedule,
  findSchedule,
  listExecutions,
  listSchedules,
  saveSchedule,
  toExecution,
  toSummary,
} from './schedules.repository.ts'
import type { NewSchedule, Schedule, ScheduleChanges, ScheduleListQuery } from './schedules.schema.ts'

interface Dependencies {
  transact: Transact<ScheduleEvents>
  outbound: Pick<Outbound, 'requirePermitted'>
  /** Rejects with NOT_FOUND. */
  requireWorkflow(agent: AgentHandle, id: string): Promise<unknown>
  isActive(agentId: string): Promise<boolean>
  begin: BeginExecution
  clock: Clock
  ids: Ids
}

type Database = AgentHandle['db']
export function createSchedulesService(needs: Dependencies) {
  const { transact, clock, ids } = needs

  async function checkCallback(agent: AgentHandle, row: ScheduleRow): Promise<void> {
    const { workflow, url } = requireCallback(row)
    if (workflow !== undefined) await needs.requireWorkflow(agent, workflow)
    if (url !== undefined) await needs.outbound.requirePermitted(url)
  }

  /** Stores what the schedule is now, with the timer of its next run in the place of the former one. */
  async function save(
    transaction: Database,
    outbox: Pick<Outbox, 'add' | 'cancel'>,
    before: ScheduleRow | undefined,
    changed: ScheduleRow,
    isNewTime: boolean,
  ): Promise<ScheduleRow> {
    const now = clock.now()
    const isActive = changed.status === 'active'
    const kept = isActive || changed.type === 'once' ? changed.next_run : null
    const next_run = isActive && isNewTime ? firstRun(changed, now) : kept
    const after = { ...changed, next_run }
    if (before !== undefined) await outbox.cancel(timerJob(before).key)
    await saveSchedule(transaction, after)
    if (isActive) await outbox.add(timerJob(after))
    return after
  }

  return {
    list: ({ db }: AgentHandle, query: ScheduleListQuery) => listSchedules(db, query),
    get: async ({ db }: AgentHandle, id: string) => present(db, await requireSchedule(db, id)),

    async create(agent: AgentHandle, given: NewSchedule): Promise<Schedule> {
      const at = timestamp(clock)
      const row = withChanges({ ...unset, id: ids.record(), type: given.type, created_at: at }, given, at)
      await checkCallback(agent, row)
      return await transact(agent, async (transaction, outbox) =>
        present(transaction, await save(transaction, outbox, undefined, row, true)),
      )
    },

    async update(agent: AgentHandle, id: string, changes: ScheduleChanges): Promise<Schedule> {
      const at = timestamp(clock)
      await checkCallback(agent, withChanges(await requireSchedule(agent.db, id), changes, at))
      return await transact(agent, async (transaction, outbox) => {
        const before = await requireSchedule(transaction, id)
        const changed = withChanges(before, changes, at)
        const isNewTime = saysWhen(changes) || before.status !== changed.status
        return present(transaction, await save(transaction, outbox, before, changed, isNewTime))
      })
    },

    remove: (agent: AgentHandle, id: string): Promise<void> =>
      transact(agent, async (transaction, outbox) => {
        await outbox.cancel(timerJob(await requireSchedule(transaction, id)).key)
        await deleteSchedule(transaction, id)
      }),

    /** Runs its callback now, besides its own times. */
    async run(agent: AgentHandle, id: string) {
      if (!(await needs.isActive(agent.agentId)))
        throw conflict(
          'The agent is not active, so that it runs no schedules. Set its status to active first.',
        )
      const time = timestamp(clock)
      return await transact(agent, async (transaction, outbox) => {
        const schedule = await requireSchedule(transaction, id)
        const begun = await needs.begin(agent.agentId, transaction, outbox, schedule, { time })
        if (begun?.status !== 'running') throw conflict(begun?.error ?? 'It runs at this moment anyway.')
        await saveSchedule(transaction, { ...schedule, last_run: time })
        return toExecution(begun)
      })
    },
  }
}

export type SchedulesService = ReturnType<typeof createSchedulesService>

async function present(database: Database, row: ScheduleRow): Promise<Schedule> {
  const executions = await listExecutions(database, row.id)
  const next_runs = row.status === 'active' ? nextRuns(row) : []
  const isRunning = ({ status }: { status: string }) => status === 'running'
  return {
    ...toSummary(row),
    next_runs,
    executions: executions.filter(one => !isRunning(one)),
    current: executions.filter(isRunning),
  }
}

async function requireSchedule(database: Database, id: string): Promise<ScheduleRow> {
  const schedule = await findSchedule(database, id)
  if (schedule === undefined) throw notFound('Schedule')
  return schedule
}
