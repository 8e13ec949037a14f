import type { AgentsService } from '#features/agents/agents.service.ts'
import type { Feature } from '#features/feature.ts'
import type { WorkflowsService } from '#features/workflows/definitions/workflows.service.ts'
import type { Lifecycle } from '#features/workflows/executions/lifecycle.service.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import { type CalendarEvents, calendarEvents } from './calendar.events.ts'
import { registerCalendarRoutes } from './calendar.routes.ts'
import { createCalendarService } from './calendar.service.ts'
import { createFeedService } from './feed.service.ts'
import { createRunTask } from './run-task.job.ts'

interface Peers {
  agents: AgentsService
  lifecycle: Lifecycle
  workflows: WorkflowsService
}

/** Tasks at set times, for people to see and for workflows to run. */
export function createCalendar(infrastructure: Infrastructure, peers: Peers): Feature {
  const { agentDatabases, configuration, clock, ids } = infrastructure
  const { agents, lifecycle, workflows } = peers
  const { baseUrl = `http://${configuration.host}:${configuration.port}` } = configuration
  const transact: Transact<CalendarEvents> = infrastructure.transact
  const isActive = async (agentId: string) => (await agents.find(agentId)).status === 'active'
  const nameOf = async (agentId: string) => (await agents.find(agentId)).name
  const calendar = createCalendarService({ transact, requireWorkflow: workflows.get, clock, ids })
  const feed = createFeedService({ agentDatabases, nameOf, baseUrl, clock })
  return {
    routes: app => registerCalendarRoutes(app, calendar, feed),
    events: calendarEvents,
    jobs: createRunTask({ transact, lifecycle, isActive, clock, ids }),
  }
}
