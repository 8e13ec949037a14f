import type { AgentsService } from '#features/agents/agents.service.ts'
import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import { createLifecycle, expireJob, runJob } from './execution-lifecycle.ts'
import { registerExecutionRoutes } from './executions.routes.ts'
import { createExecutionsService } from './executions.service.ts'
import { createExpireExecution } from './expire-execution.job.ts'
import { registerHookRoutes } from './hooks.routes.ts'
import { createHooksService } from './hooks.service.ts'
import { createNodeTypes } from './nodes/node-types.ts'
import { createRunExecution } from './run-execution.job.ts'
import { createStartOnEvent } from './start-on-event.ts'
import { createWorkflowTools } from './workflow-tools.ts'
import type { WorkflowEvents } from './workflows.events.ts'
import { workflowEvents } from './workflows.events.ts'
import { subscriberKind } from './workflows.repository.ts'
import { registerWorkflowRoutes } from './workflows.routes.ts'
import type { WorkflowsService } from './workflows.service.ts'
import { createWorkflowsService } from './workflows.service.ts'

export interface WorkflowsFeature extends Feature {
  workflows: WorkflowsService
}

interface Peers {
  agents: AgentsService
  /** The events that any feature emits. */
  eventNames(): readonly string[]
}

/** Graphs of nodes that agents run: by hand, by events, by an address, by the clock, and as tools of models. */
export function createWorkflows(
  infrastructure: Infrastructure,
  { agents, eventNames }: Peers,
): WorkflowsFeature {
  const { agentDatabases, configuration, isExclusive, clock, ids } = infrastructure
  const transact: Transact<WorkflowEvents> = infrastructure.transact
  const { baseUrl = `http://${configuration.host}:${configuration.port}` } = configuration
  const types = createNodeTypes()
  const lifecycle = createLifecycle({ clock, ids })
  const statusOf = async (agentId: string) => (await agents.find(agentId)).status
  const workflows = createWorkflowsService({ transact, lifecycle, types, eventNames, clock, ids })
  const executions = createExecutionsService({ transact, lifecycle, types, statusOf, clock })
  const hooks = createHooksService({ workflows, executions, agentDatabases, baseUrl })
  return {
    workflows,
    tools: createWorkflowTools(executions),
    routes(app) {
      registerWorkflowRoutes(app, workflows)
      registerHookRoutes(app, hooks)
      registerExecutionRoutes(app, executions)
    },
    events: workflowEvents,
    eventHandlers: { [subscriberKind]: createStartOnEvent({ workflows, executions }) },
    jobs: {
      [runJob]: createRunExecution({ transact, lifecycle, types, clock, isExclusive }),
      [expireJob]: createExpireExecution({ transact, lifecycle }),
    },
  }
}
