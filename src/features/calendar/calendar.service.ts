import { timestamp } from '#platform/clock.ts'
import { invalid, notFound } from '#platform/errors.ts'
import type { ChangeContext, Outbox } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { CalendarEvents } from './calendar.events.ts'
import {
  deleteOccurrence,
  deleteTask,
  findOccurrence,
  findTask,
  latestOccurrences,
  listTasks,
  saveOccurrence,
  saveTask,
  type TaskRow,
  toTask,
} from './calendar.repository.ts'
import type { NewTask, Task, TaskChanges, TaskListQuery } from './calendar.schema.ts'
import { timerJob } from './run-task.job.ts'

interface Dependencies extends ChangeContext<CalendarEvents> {
  /** Rejects with NOT_FOUND. */
  requireWorkflow(agent: AgentHandle, id: string): Promise<unknown>
}

type Database = AgentHandle['db']

interface Change {
  transaction: Database
  outbox: Pick<Outbox, 'add' | 'cancel'>
}

/** The defaults of a new task, to which its body is applied as a change. */
const blank = {
  title: '',
  description: '',
  start_time: '',
  end_time: null,
  timezone: 'UTC',
  recurrence: 'none',
  recurrence_days: '[]',
  recurrence_end: null,
  exceptions: '[]',
  workflow_id: null,
  status: 'pending',
  ends_at: '',
  next_due: null,
}

export function createCalendarService({ transact, requireWorkflow, clock, ids }: Dependencies) {
  /** Stores the changed task, and replaces the timer of its next occurrence. */
  async function save({ transaction, outbox }: Change, before: TaskRow, changes: TaskChanges): Promise<Task> {
    const { withChanges } = await import('./task-times.ts')
    const after = withChanges(before, changes, clock.now())
    await outbox.cancel(timerJob(before).key)
    await saveTask(transaction, after)
    if (after.next_due !== null) await outbox.add(timerJob(after))
    return present(transaction, after)
  }

  /** Sets the status of one occurrence; a task that occurs once has its own status. */
  async function settle(change: Change, row: TaskRow, { occurrence = '', status, ...others }: TaskChanges) {
    const { transaction } = change
    if (status === undefined || Object.keys(others).length > 0)
      throw invalid('occurrence', 'goes with status alone')
    const { startOf } = await import('./task-times.ts')
    const starts_at = startOf(row, occurrence)
    if (row.recurrence === 'none') return save(change, row, { status })
    // The occurrence takes place as if its status had never been set.
    if (status === 'pending' && Date.parse(starts_at) > clock.now()) {
      await deleteOccurrence(transaction, row.id, starts_at)
      return present(transaction, row)
    }
    const known = await findOccurrence(transaction, { task_id: row.id, starts_at })
    const fresh = { id: ids.record(), task_id: row.id, starts_at, error: null, workflow_execution_id: null }
    await saveOccurrence(transaction, { ...fresh, ...known, status })
    return present(transaction, row)
  }

  const inChange = <Result>(agent: AgentHandle, work: (change: Change) => Promise<Result>) =>
    transact(agent, (transaction, outbox) => work({ transaction, outbox }))

  return {
    list: async (agent: AgentHandle, query: TaskListQuery) => {
      if (query.start === undefined && query.end === undefined) return listTasks(agent.db, query)
      const { listOccurrences } = await import('./list-occurrences.ts')
      return listOccurrences(agent, query)
    },

    get: async ({ db }: AgentHandle, id: string) => present(db, await requireTask(db, id)),

    async create(agent: AgentHandle, givenTask: NewTask): Promise<Task> {
      if (givenTask.workflow_id) await requireWorkflow(agent, givenTask.workflow_id)
      const now = timestamp(clock)
      const before = { ...blank, id: ids.record(), created_at: now, updated_at: now }
      return inChange(agent, change => save(change, before, givenTask))
    },

    async update(agent: AgentHandle, id: string, changes: TaskChanges): Promise<Task> {
      if (changes.workflow_id) await requireWorkflow(agent, changes.workflow_id)
      return inChange(agent, async change => {
        const before = await requireTask(change.transaction, id)
        return changes.occurrence === undefined
          ? save(change, before, changes)
          : settle(change, before, changes)
      })
    },

    remove: (agent: AgentHandle, id: string): Promise<void> =>
      inChange(agent, async ({ transaction, outbox }) => {
        await outbox.cancel(timerJob(await requireTask(transaction, id)).key)
        await deleteTask(transaction, id)
      }),
  }
}

export type CalendarService = ReturnType<typeof createCalendarService>

async function present(database: Database, row: TaskRow): Promise<Task> {
  const rows = await latestOccurrences(database, row.id)
  return { ...toTask(row), occurrences: rows as Task['occurrences'] }
}

async function requireTask(database: Database, id: string): Promise<TaskRow> {
  const task = await findTask(database, id)
  if (task === undefined) throw notFound('Task')
  return task
}
