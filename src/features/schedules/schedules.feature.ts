import type { AgentsService } from '#features/agents/agents.service.ts'
import type { ChatFeature } from '#features/chat/chat.feature.ts'
import type { Feature } from '#features/feature.ts'
import type { WorkflowsService } from '#features/workflows/definitions/workflows.service.ts'
import type { Lifecycle } from '#features/workflows/executions/lifecycle.service.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import { createExecutions } from './executions.ts'
import { createCallbacks } from './run-callback.job.ts'
import { createRunSchedule, timerJobName } from './run-schedule.job.ts'
import { type ScheduleEvents, scheduleEvents } from './schedules.events.ts'
import { registerScheduleRoutes } from './schedules.routes.ts'
import { createSchedulesService } from './schedules.service.ts'

interface Peers extends Pick<ChatFeature, 'answerOnce' | 'abandon'> {
  agents: AgentsService
  lifecycle: Lifecycle
  workflows: WorkflowsService
}

/** The work of agents at set times. */
export function createSchedules(infrastructure: Infrastructure, peers: Peers): Feature {
  const { outbound, clock, ids } = infrastructure
  const { agents, answerOnce, abandon, lifecycle, workflows } = peers
  const transact: Transact<ScheduleEvents> = infrastructure.transact
  const isActive = async (agentId: string) => (await agents.find(agentId)).status === 'active'
  const executions = createExecutions({ lifecycle, clock, ids })
  const requireWorkflow = workflows.get
  const callbacks = createCallbacks({ transact, executions, answerOnce, abandon, outbound, clock })
  const schedules = createSchedulesService({
    transact,
    outbound,
    requireWorkflow,
    isActive,
    executions,
    clock,
    ids,
  })
  return {
    routes: app => registerScheduleRoutes(app, schedules),
    events: scheduleEvents,
    jobs: { [timerJobName]: createRunSchedule({ transact, isActive, executions, clock }), ...callbacks },
  }
}
