import { type ChatFeature, isTurnWaiting, pauseBehindTurn } from '#features/chat/chat.feature.ts'
import { failureOf } from '#features/workflows/executions/lifecycle.service.ts'
import type { ExecutionEnd } from '#features/workflows/workflows.events.ts'
import { currentActor } from '#platform/actor.ts'
import type { Clock } from '#platform/clock.ts'
import { AppError, conflict } from '#platform/errors.ts'
import { type JobContext, type JobHandler, JobYields, type Transact } from '#platform/jobs/jobs.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { callbackJob, callbackJobs, type Executions, endJobName } from './executions.ts'
import type { ScheduleEvents } from './schedules.events.ts'
import {
  callbackData,
  type ExecutionRow,
  findExecution,
  findSchedule,
  type ScheduleRow,
} from './schedules.repository.ts'

interface Dependencies extends Pick<ChatFeature, 'answerOnce' | 'abandon'> {
  transact: Transact<ScheduleEvents>
  executions: Executions
  outbound: Pick<Outbound, 'fetch'>
  clock: Clock
}

/** Resolves after a successful callback; throws its failure. */
type Callback = (
  context: JobContext<AgentHandle>,
  schedule: ScheduleRow,
  execution: ExecutionRow,
) => Promise<void>

/** Interval between attempts for a locked conversation. */
const pauseMs = 2_000
/** Interval between reads of a turn that waits for a person (ms); its decision makes the job due. */
const waitingMs = 3_600_000

/** Runs the callbacks that are no workflows, and records their ends. */
export function createCallbacks(dependencies: Dependencies): Record<string, JobHandler<AgentHandle>> {
  const { transact, executions, answerOnce, abandon, outbound, clock } = dependencies
  const runChat: Callback = async ({ agent, signal }, schedule, { id, time }) => {
    const content = String(callbackData(schedule).content)
    // The conversation of a schedule has the schedule's id, and each question in it that of its execution.
    const question = { id, content, standingConversationId: schedule.id }
    const asker = { isOutsider: false, author: `schedule:${schedule.id}`, reach: 'all' as const }
    const job = { signal, resume: callbackJob(schedule, id) }
    const answer = await answerOnce(agent.agentId, question, asker, job).catch(error => {
      if (isTurnWaiting(error)) throw new JobYields({ until: clock.now() + waitingMs })
      if (!(error instanceof AppError)) throw error
      const { code, isPermanent } = error
      // Others have reserved the rest of a budget, and might leave some of it.
      const isReserved = code === 'BUDGET_SPENT' && !isPermanent
      if (code === 'CONVERSATION_LOCKED' || isReserved) throw new JobYields({ until: clock.now() + pauseMs })
      if (code !== 'CONVERSATION_WAITING') throw error
      throw new JobYields({ until: clock.now() + pauseBehindTurn(clock.now() - Date.parse(time)) })
    })
    if (answer.metadata?.stopped) throw conflict('The turn was stopped by a person.')
  }

  const post: Callback = async ({ agent, signal }, schedule, { id, scheduled_for }) => {
    const { url, ...data } = callbackData(schedule)
    const facts = { agent_id: agent.agentId, schedule_id: schedule.id, execution_id: id, scheduled_for }
    const { status } = await outbound.fetch(String(url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': id },
      body: JSON.stringify({ ...facts, data }),
      maxRedirects: 0,
      signal,
    })
    if (status >= 200 && status < 300) return
    const isPermanent = status < 500 && ![408, 425, 429].includes(status)
    throw new AppError('OUTBOUND_FAILED', `The receiver answered with status ${status}.`, { isPermanent })
  }

  const end = (
    { agent }: JobContext<AgentHandle>,
    key: 'id' | 'workflow_execution_id',
    value: string,
    error: string | null,
  ) => transact(agent, (transaction, outbox) => executions.end({ transaction, outbox }, key, value, error))

  function jobOf(callback: Callback, options: Pick<JobHandler<AgentHandle>, 'lane' | 'maxAttempts'>) {
    const handler: JobHandler<AgentHandle> = {
      ...options,
      async run(context) {
        const { db } = context.agent
        const execution = await findExecution(db, 'id', idOf(context))
        const schedule = execution && (await findSchedule(db, execution.schedule_id))
        if (schedule === undefined || execution?.status !== 'running')
          return await abandon(context.agent, idOf(context))
        const { id, name } = schedule
        await currentActor.run({ kind: 'schedule', id, name }, callback, context, schedule, execution)
        await end(context, 'id', idOf(context), null)
      },
      async onFailed(context, error) {
        await end(context, 'id', idOf(context), error)
        await abandon(context.agent, idOf(context))
      },
    }
    return handler
  }

  const workflowEnded: JobHandler<AgentHandle> = {
    lane: 'timers',
    run(context) {
      const ended = context.payload as ExecutionEnd
      return end(context, 'workflow_execution_id', ended.execution_id, failureOf(ended))
    },
  }

  return {
    [endJobName]: workflowEnded,
    // A failed answer stays in its conversation for people; only interruptions are repeated.
    [callbackJobs.chat]: jobOf(runChat, { lane: 'turns', maxAttempts: 1 }),
    [callbackJobs.webhook]: jobOf(post, { lane: 'deliveries' }),
  }
}

function idOf({ payload }: JobContext<AgentHandle>): string {
  return (payload as { executionId: string }).executionId
}
