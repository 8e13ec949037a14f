import type { AgentsService } from '#features/agents/agents.service.ts'
import type { BrowserService } from '#features/browser/browser.service.ts'
import type { ChannelsService } from '#features/channels/channels.service.ts'
import type { ChatFeature } from '#features/chat/chat.feature.ts'
import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { createWorkflowsService, type WorkflowsService } from './definitions/workflows.service.ts'
import { createExecutionEnds } from './executions/execution-ends.ts'
import { registerExecutionRoutes } from './executions/executions.routes.ts'
import { createExecutionsService, type ExecutionsService } from './executions/executions.service.ts'
import {
  type AbandonTurns,
  createLifecycle,
  executionJob,
  type Lifecycle,
} from './executions/lifecycle.service.ts'
import { createPruning, pruneJob } from './executions/prune-executions.job.ts'
import { createChatDecided } from './executions/resume-node.ts'
import { createRunExecution } from './executions/run-execution.job.ts'
import { createStartOnEvent } from './executions/start-on-event.ts'
import { createWorkflowTools } from './executions/workflow-tools.ts'
import { registerHookRoutes } from './hooks/hooks.routes.ts'
import { createHooksService } from './hooks/hooks.service.ts'
import { createSoldRuns, type SoldRuns } from './hooks/sold-runs.service.ts'
import { createBrowserSessions } from './nodes/browser.ts'
import { authorOf, chatDecidedJob } from './nodes/chat.ts'
import { createNodeTypes } from './nodes/node-types.ts'
import { subscriberKind } from './rows/workflows.repository.ts'
import { workflowEvents } from './workflows.events.ts'
import { registerWorkflowRoutes } from './workflows.routes.ts'

export interface WorkflowsFeature extends Feature {
  workflows: WorkflowsService
  lifecycle: Lifecycle
  soldRuns: SoldRuns
  executions: Pick<ExecutionsService, 'resume'>
}

interface Peers extends Pick<ChatFeature, 'answerOnce' | 'answerAlone' | 'abandon' | 'abandonAll'> {
  agents: AgentsService
  channels: ChannelsService
  browser: BrowserService
  /** Returns the events that any feature emits. */
  eventNames(): readonly string[]
}

/** Graphs of nodes that agents run manually, by events, addresses or schedules, or as tools of models. */
export function createWorkflows(
  infrastructure: Infrastructure,
  { agents, eventNames, ...peers }: Peers,
): WorkflowsFeature {
  const { agentDatabases, agentSecrets, configuration, isExclusive, clock, ids } = infrastructure
  const ends = createExecutionEnds({ transact: infrastructure.transact, isExclusive })
  const { transact } = ends
  const { baseUrl = `http://${configuration.host}:${configuration.port}` } = configuration
  const statusOf = async (agentId: string) => (await agents.find(agentId)).status
  const sessions = createBrowserSessions(peers.browser)
  const types = createNodeTypes({ ...infrastructure, ...peers, sessions })
  const pruning = createPruning({ kept: configuration.executionsKept, clock })
  const abandonTurns: AbandonTurns = (ending, workflowId, isOver) =>
    peers.abandonAll(ending, authorOf(workflowId), ({ payload: key }) => isOver(String(key)))
  const lifecycle = createLifecycle({ noteEnd: ends.note, abandonTurns, pruneSoon: pruning.soon, clock, ids })
  const definitions = { transact, lifecycle, types, agentSecrets, eventNames, clock, ids }
  const workflows = createWorkflowsService(definitions)
  const executions = createExecutionsService({ transact, lifecycle, types, statusOf, ends, clock })
  const hooks = createHooksService({ executions, agentDatabases, baseUrl })
  return {
    workflows,
    lifecycle,
    executions,
    soldRuns: createSoldRuns(executions, configuration.gateway?.header),
    tools: createWorkflowTools(executions),
    routes(app) {
      registerWorkflowRoutes(app, workflows, hooks)
      registerHookRoutes(app, hooks, configuration.gateway?.header)
      registerExecutionRoutes(app, executions)
    },
    drain: async () => ends.close(),
    events: workflowEvents,
    eventHandlers: { [subscriberKind]: createStartOnEvent(executions) },
    jobs: {
      [executionJob]: createRunExecution({
        transact,
        lifecycle,
        abandonTurns,
        types,
        sessions,
        agentSecrets,
        clock,
        isExclusive,
      }),
      [pruneJob]: pruning.job,
      [chatDecidedJob]: createChatDecided({ ...infrastructure, ...peers }),
    },
  }
}
