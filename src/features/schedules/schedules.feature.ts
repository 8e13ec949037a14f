import type { AgentsService } from '#features/agents/agents.service.ts'
import type { ChatService } from '#features/chat/chat.service.ts'
import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import type { EventHandler } from '#platform/jobs/events.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { StartWorkflow } from './begin-execution.ts'
import { createBeginExecution } from './begin-execution.ts'
import { createCallbacks } from './run-callback.job.ts'
import { createRunSchedule, timerJobName } from './run-schedule.job.ts'
import type { ScheduleEvents } from './schedules.events.ts'
import { scheduleEvents } from './schedules.events.ts'
import { endExecution, subscriberKind } from './schedules.repository.ts'
import { registerScheduleRoutes } from './schedules.routes.ts'
import { createSchedulesService } from './schedules.service.ts'

interface Peers {
  agents: Pick<AgentsService, 'find'>
  chat: ChatService
  workflows: { start: StartWorkflow; get(agent: AgentHandle, id: string): Promise<unknown> }
}

/** What agents do at set times. */
export function createSchedules(infrastructure: Infrastructure, { agents, chat, workflows }: Peers): Feature {
  const { outbound, clock, ids } = infrastructure
  const transact: Transact<ScheduleEvents> = infrastructure.transact
  const isActive = async (agentId: string) => (await agents.find(agentId)).status === 'active'
  const begin = createBeginExecution({ startWorkflow: workflows.start, clock, ids })
  const requireWorkflow = workflows.get
  const schedules = createSchedulesService({
    transact,
    outbound,
    requireWorkflow,
    isActive,
    begin,
    clock,
    ids,
  })
  return {
    routes: app => registerScheduleRoutes(app, schedules),
    events: scheduleEvents,
    eventHandlers: { [subscriberKind]: workflowEnded },
    jobs: {
      [timerJobName]: createRunSchedule({ transact, isActive, begin, clock, ids }),
      ...createCallbacks({ chat, outbound, clock }),
    },
  }
}

const workflowEnded: EventHandler<AgentHandle> = {
  lane: 'timers',
  async handle({ name, payload }, { agent }) {
    const { execution_id, error = 'The workflow was stopped.' } = payload as {
      execution_id: string
      error?: string
    }
    await endExecution(
      agent.db,
      'workflow_execution_id',
      execution_id,
      name === 'workflow.complete' ? null : error,
    )
  },
}
