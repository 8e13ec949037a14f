import { timestamp } from '#platform/clock.ts'
import { conflict, invalid, notFound } from '#platform/errors.ts'
import type { ChangeContext, Outbox } from '#platform/jobs/jobs.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Executions } from './executions.ts'
import { timerJob } from './run-schedule.job.ts'
import type { ScheduleEvents } from './schedules.events.ts'
import {
  callbackData,
  deleteSchedule,
  findSchedule,
  listExecutions,
  listSchedules,
  type ScheduleRow,
  saveSchedule,
  toExecution,
  toSummary,
} from './schedules.repository.ts'
import type {
  NewSchedule,
  Schedule,
  ScheduleChanges,
  ScheduleExecution,
  ScheduleListQuery,
} from './schedules.schema.ts'

interface Dependencies extends ChangeContext<ScheduleEvents> {
  outbound: Pick<Outbound, 'requirePermitted'>
  /** Rejects with NOT_FOUND. */
  requireWorkflow(agent: AgentHandle, id: string): Promise<unknown>
  isActive(agentId: string): Promise<boolean>
  executions: Executions
}

type Database = AgentHandle['db']
type Callback = Pick<NewSchedule, 'callback_type' | 'callback_id' | 'callback_data'>

/** The defaults of a new schedule, to which its body is applied as a change. */
const blank = {
  name: '',
  cron_expression: null,
  delay_seconds: null,
  timezone: 'UTC',
  callback_id: null,
  callback_data: '{}',
  overlap: 'skip',
  status: 'paused',
  next_run: null,
  last_run: null,
}

export function createSchedulesService(dependencies: Dependencies) {
  const { transact, executions, clock, ids } = dependencies

  /** Stores the changed schedule, and replaces the timer of its next run. */
  async function save(
    transaction: Database,
    outbox: Pick<Outbox, 'add' | 'cancel'>,
    before: ScheduleRow,
    changes: ScheduleChanges,
  ): Promise<Schedule> {
    const { withChanges } = await import('./schedule-times.ts')
    const after = withChanges(before, changes, clock.now())
    await outbox.cancel(timerJob(before).key)
    await saveSchedule(transaction, after)
    if (after.status === 'active') await outbox.add(timerJob(after))
    return await present(transaction, after)
  }

  return {
    list: ({ db }: AgentHandle, query: ScheduleListQuery) => listSchedules(db, query),

    get: async ({ db }: AgentHandle, id: string) => present(db, await requireSchedule(db, id)),

    async create(agent: AgentHandle, givenSchedule: NewSchedule): Promise<Schedule> {
      await checkCallback(dependencies, agent, givenSchedule)
      const { type, callback_type } = givenSchedule
      const now = timestamp(clock)
      const before = { ...blank, id: ids.record(), type, callback_type, created_at: now, updated_at: now }
      return await transact(agent, (transaction, outbox) =>
        save(transaction, outbox, before, { status: 'active', ...givenSchedule }),
      )
    },

    async update(agent: AgentHandle, id: string, changes: ScheduleChanges): Promise<Schedule> {
      if (changes.callback_id !== undefined || changes.callback_data !== undefined) {
        const { callback_type, callback_id, ...before } = await requireSchedule(agent.db, id)
        const callback = { callback_type, callback_id, callback_data: callbackData(before), ...changes }
        await checkCallback(dependencies, agent, callback as Callback)
      }
      return await transact(agent, async (transaction, outbox) => {
        const before = await requireSchedule(transaction, id)
        // An unchanged time is ignored, even if the type takes none.
        const { next_run, ...others } = changes
        return await save(transaction, outbox, before, next_run === before.next_run ? others : changes)
      })
    },

    remove: (agent: AgentHandle, id: string): Promise<void> =>
      transact(agent, async (transaction, outbox) => {
        await outbox.cancel(timerJob(await requireSchedule(transaction, id)).key)
        await deleteSchedule(transaction, id)
      }),

    /** Starts the callback now, besides its own times. @throws AppError CONFLICT if nothing may start */
    async run(agent: AgentHandle, id: string): Promise<ScheduleExecution> {
      if (!(await dependencies.isActive(agent.agentId)))
        throw conflict('The agent is not active, so it runs no schedules. Set its status to active first.')
      return await transact(agent, async (transaction, outbox) => {
        const schedule = await requireSchedule(transaction, id)
        const change = { agentId: agent.agentId, transaction, outbox }
        const begun = await executions.begin(change, schedule, { scheduled_for: null, late_seconds: 0 })
        if (typeof begun === 'string') throw conflict(`${begun} Nothing was started.`)
        await saveSchedule(transaction, { ...schedule, last_run: timestamp(clock) })
        return toExecution(begun)
      })
    },
  }
}

export type SchedulesService = ReturnType<typeof createSchedulesService>

async function requireSchedule(database: Database, id: string): Promise<ScheduleRow> {
  const schedule = await findSchedule(database, id)
  if (schedule === undefined) throw notFound('Schedule')
  return schedule
}

async function present(database: Database, row: ScheduleRow): Promise<Schedule> {
  const { nextRuns } = await import('./schedule-times.ts')
  const ended = await listExecutions(database, row.id, true)
  const current = await listExecutions(database, row.id, false)
  const lists = { executions: ended.map(toExecution), current: current.map(toExecution) }
  return { ...toSummary(row), next_runs: nextRuns(row), ...lists }
}

/** @throws AppError VALIDATION_ERROR, NOT_FOUND, OUTBOUND_REFUSED */
async function checkCallback(
  { requireWorkflow, outbound }: Pick<Dependencies, 'requireWorkflow' | 'outbound'>,
  agent: AgentHandle,
  { callback_type, callback_id, callback_data: { content, url } = {} }: Callback,
): Promise<void> {
  if (callback_type === 'workflow') {
    if (!callback_id) throw invalid('callback_id', 'must be the id of a workflow')
    await requireWorkflow(agent, callback_id)
  } else if (callback_type === 'webhook') {
    if (url === undefined) throw invalid('callback_data.url', 'must be the address to send to')
    await outbound.requirePermitted(url, 'callback_data.url')
  } else if (content === undefined) throw invalid('callback_data.content', 'must be the message to the agent')
}
