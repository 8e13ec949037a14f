import type { JobHandler, Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Lifecycle } from './execution-lifecycle.ts'
import type { WorkflowEvents } from './workflows.events.ts'

interface Dependencies {
  transact: Transact<WorkflowEvents>
  lifecycle: Lifecycle
}

/** Ends an execution for which no place became free. */
export function createExpireExecution({ transact, lifecycle }: Dependencies): JobHandler<AgentHandle> {
  return {
    lane: 'timers',
    async run({ agent, payload }) {
      const guard = { id: (payload as { executionId: string }).executionId, statuses: ['queued'] }
      const error = 'The workflow was busy with other executions for 24 hours.'
      await transact(agent, (transaction, outbox) =>
        lifecycle.end({ transaction, outbox, agentId: agent.agentId }, guard, {
          status: 'errored',
          output: null,
          error,
        }),
      )
    },
  }
}
