import type { ChatService } from '#features/chat/chat.service.ts'
import type { Clock } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import type { JobContext, JobHandler } from '#platform/jobs/jobs.ts'
import { JobYields } from '#platform/jobs/jobs.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { ExecutionRow, ScheduleRow } from './schedules.repository.ts'
import { endExecution, findExecution, findRunning, findSchedule } from './schedules.repository.ts'

export const callbackJobs = { chat: 'schedule.chat', webhook: 'schedule.webhook' } as const

interface Dependencies {
  chat: Pick<ChatService, 'ask' | 'answer'>
  outbound: Pick<Outbound, 'fetch'>
  clock: Clock
}

/** Ends when the callback has ended well; throws how it failed. */
type Callback = (
  run: JobContext<AgentHandle>,
  schedule: ScheduleRow,
  execution: ExecutionRow,
) => Promise<void>

/** Until a conversation, or an execution that goes first, is looked at again. */
const pauseMs = 2_000

/** The callbacks that are no workflows; each records how it ended. */
export function createCallbacks({ chat, outbound, clock }: Dependencies) {
  const ask: Callback = async ({ agent, signal }, { id, callback_data }) => {
    const { content } = JSON.parse(callback_data)
    // The conversation of a schedule has the schedule's id.
    const question = { content, standingConversationId: id }
    const asked = await chat.ask(agent.agentId, question, { isOutsider: false }).catch(error => {
      throw error instanceof AppError && error.code === 'CONVERSATION_LOCKED' ? later() : error
    })
    await chat.answer(asked, signal)
  }

  const post: Callback = async ({ agent, signal }, schedule, execution) => {
    const { url, input } = JSON.parse(schedule.callback_data)
    const { id, scheduled_for } = execution
    const facts = { agent_id: agent.agentId, schedule_id: schedule.id, name: schedule.name, execution_id: id }
    const { status } = await outbound.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': id },
      body: JSON.stringify({ ...facts, scheduled_for, input: input ?? {} }),
      maxRedirects: 0,
      signal,
    })
    if (status >= 200 && status < 300) return
    const isPermanent = status < 500 && ![408, 425, 429].includes(status)
    throw new AppError('OUTBOUND_FAILED', `The receiver answered with status ${status}.`, { isPermanent })
  }

  function later(): JobYields {
    return new JobYields({ until: clock.now() + pauseMs })
  }

  function jobOf(callback: Callback, options: Pick<JobHandler<AgentHandle>, 'lane' | 'maxAttempts'>) {
    const handler: JobHandler<AgentHandle> = {
      ...options,
      async run(context) {
        const { db } = context.agent
        const execution = await findExecution(db, idOf(context))
        const schedule = execution && (await findSchedule(db, execution.schedule_id))
        if (schedule === undefined || execution?.status !== 'running') return
        if ((await findRunning(db, schedule.id))?.id !== execution.id) throw later()
        await callback(context, schedule, execution)
        await endExecution(db, 'id', execution.id, null)
      },
      onFailed: (context, error) => endExecution(context.agent.db, 'id', idOf(context), error),
    }
    return handler
  }

  return {
    // A question that was asked stands in its conversation, so it is not asked again.
    [callbackJobs.chat]: jobOf(ask, { lane: 'turns', maxAttempts: 1 }),
    [callbackJobs.webhook]: jobOf(post, { lane: 'deliveries' }),
  }
}

function idOf({ payload }: JobContext<AgentHandle>): string {
  return (payload as { executionId: string }).executionId
}
