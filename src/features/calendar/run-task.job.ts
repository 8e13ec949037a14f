import {
  failureOf,
  type Lifecycle,
  refusalReasons,
} from '#features/workflows/executions/lifecycle.service.ts'
import type { ExecutionEnd } from '#features/workflows/workflows.events.ts'
import type { Ids } from '#platform/ids.ts'
import {
  type ChangeContext,
  type JobContext,
  type JobHandler,
  JobYields,
  type NewJob,
  type Outbox,
} from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { CalendarEvents } from './calendar.events.ts'
import {
  findOccurrence,
  findTask,
  insertOccurrences,
  type OccurrenceRow,
  saveOccurrence,
  saveTask,
  type TaskRow,
} from './calendar.repository.ts'

export const timerJobName = 'task.run'
const endJobName = 'task.ended'

/** Its key differs from that of the timer that adds it. */
export function timerJob({ id, next_due }: Pick<TaskRow, 'id' | 'next_due'>): NewJob & { key: string } {
  const at = next_due ?? ''
  return { name: timerJobName, key: `task:${id}@${at}`, payload: { id, at }, runAt: Date.parse(at) }
}

interface Dependencies extends ChangeContext<CalendarEvents> {
  lifecycle: Pick<Lifecycle, 'start'>
  isActive(agentId: string): Promise<boolean>
}

interface Change {
  agentId: string
  transaction: AgentHandle['db']
  outbox: Outbox<CalendarEvents>
}

/** The timer of a task: begins the due occurrence, and sets the next timer, in one transaction. */
export function createRunTask({ transact, lifecycle, isActive, clock, ids }: Dependencies) {
  /** Returns the occurrence after its workflow was started, or could not be. */
  async function started(change: Change, task: TaskRow, begun: OccurrenceRow, end_time: string | null) {
    const { workflow_id, id, title, description } = task
    if (workflow_id === null || begun.status === 'failed') return begun
    const result = await lifecycle.start(change.transaction, change.outbox, {
      workflow_id,
      input: { task: { id, title, description, start_time: begun.starts_at, end_time } },
      cause: { kind: 'calendar', ref: id },
      when_busy: 'queue',
      end_job: endJobName,
    })
    return 'refused' in result
      ? { ...begun, status: 'failed', error: refusalReasons[result.refused] }
      : { ...begun, status: 'running', workflow_execution_id: result.execution_id }
  }

  /** Begins an occurrence, except one that a person has settled before; returns its status. */
  async function begin(
    change: Change,
    task: TaskRow,
    starts_at: string,
    failure: string | null,
  ): Promise<string> {
    const { agentId, transaction, outbox } = change
    const known = await findOccurrence(transaction, { task_id: task.id, starts_at })
    if (known !== undefined) return known.status
    const duration =
      task.end_time === null ? undefined : Date.parse(task.end_time) - Date.parse(task.start_time)
    const end_time = duration === undefined ? null : new Date(Date.parse(starts_at) + duration).toISOString()
    const begun = await started(change, task, newOccurrence(ids, task.id, starts_at, failure), end_time)
    await saveOccurrence(transaction, begun)
    const { workflow_execution_id } = begun
    const facts = { agent_id: agentId, task_id: task.id, title: task.title, start_time: starts_at, end_time }
    await outbox.emit('task.due', { ...facts, workflow_execution_id })
    return begun.status
  }

  async function run({ agent, payload }: JobContext<AgentHandle>, fault?: string): Promise<void> {
    const { id, at } = payload as { id: string; at: string }
    const { db, agentId } = agent
    const found = await findTask(db, id)
    // A cancelled timer might have begun already.
    if (found?.status !== 'pending' || found.next_due !== at) return
    const { dueOccurrences, occurrencesBetween, textOf } = await import('./task-times.ts')
    const { run: due, missed, next } = await dueOccurrences(found, at, clock.now())
    const mayStart = found.workflow_id === null || (await isActive(agentId))
    const failure = fault ?? (mayStart ? null : 'The agent was not active.')
    await transact(agent, async (transaction, outbox) => {
      const task = await findTask(transaction, id)
      if (JSON.stringify(task) !== JSON.stringify(found)) throw new JobYields()
      if (missed !== undefined && found.workflow_id !== null) {
        const reason = failure ?? 'The service was not running then.'
        const rows = occurrencesBetween(found, missed).map(time => newOccurrence(ids, id, time, reason))
        await insertOccurrences(transaction, rows)
      }
      const change = { agentId, transaction, outbox }
      const status = due === undefined ? 'pending' : await begin(change, found, textOf(due), failure)
      const next_due = next === undefined ? null : textOf(next)
      await saveTask(transaction, { ...found, next_due, ...(found.recurrence === 'none' && { status }) })
      if (next_due !== null) await outbox.add(timerJob({ id, next_due }))
    })
  }

  const timer: JobHandler<AgentHandle> = {
    lane: 'timers',
    run: context => run(context),
    // A fault of the service ends no series.
    onFailed: (context, error) => run(context, `It could not be started: ${error}`),
  }
  return {
    [timerJobName]: timer,
    [endJobName]: { lane: 'timers', run: recordEnd(transact) } satisfies JobHandler<AgentHandle>,
  }
}

/** Records the end of an occurrence's workflow, unless a person has settled the occurrence meanwhile. */
function recordEnd(transact: Dependencies['transact']) {
  return ({ agent, payload }: JobContext<AgentHandle>): Promise<void> => {
    const ended = payload as ExecutionEnd
    const error = failureOf(ended)
    const status = error === null ? 'completed' : 'failed'
    return transact(agent, async transaction => {
      const occurrence = await findOccurrence(transaction, { workflow_execution_id: ended.execution_id })
      if (occurrence?.status !== 'running') return
      await saveOccurrence(transaction, { ...occurrence, status, error })
      const task = await findTask(transaction, occurrence.task_id)
      if (task?.recurrence === 'none' && task.status === 'running')
        await saveTask(transaction, { ...task, status })
    })
  }
}

function newOccurrence(ids: Ids, task_id: string, starts_at: string, error: string | null): OccurrenceRow {
  const status = error === null ? 'pending' : 'failed'
  return { id: ids.record(), task_id, starts_at, status, error, workflow_execution_id: null }
}
