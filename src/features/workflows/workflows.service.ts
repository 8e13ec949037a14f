import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { notFound } from '#platform/errors.ts'
import type { Page } from '#platform/http/lists/list-query.ts'
import type { Ids } from '#platform/ids.ts'
import type { Outbox, Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { checkDefinition, requireNone } from './definition.ts'
import type { Lifecycle } from './execution-lifecycle.ts'
import { listActive } from './executions.repository.ts'
import type { NodeTypes } from './nodes/node-types.ts'
import type { WorkflowEvents } from './workflows.events.ts'
import {
  deleteWorkflow,
  findDefinition,
  findWorkflow,
  insertVersion,
  listWorkflows,
  putWorkflow,
  subscribe,
} from './workflows.repository.ts'
import type {
  Definition,
  NewWorkflow,
  Workflow,
  WorkflowChanges,
  WorkflowListQuery,
  WorkflowSummary,
} from './workflows.schema.ts'

interface Dependencies {
  transact: Transact<WorkflowEvents>
  lifecycle: Lifecycle
  types: NodeTypes
  /** The events that any feature emits. */
  eventNames(): readonly string[]
  clock: Clock
  ids: Ids
}

/** What the trigger may name beside events. */
const otherTriggers = ['manual', 'webhook']

/** Workflows: their definitions, versions and addresses. */
export function createWorkflowsService(needs: Dependencies) {
  const { transact, lifecycle, types, clock, ids } = needs

  async function get({ db }: Pick<AgentHandle, 'db'>, id: string): Promise<Workflow> {
    const workflow = await findWorkflow(db, id)
    const definition = workflow && (await findDefinition(db, id, workflow.version))
    if (workflow === undefined || definition === undefined) throw notFound('Workflow')
    return { ...workflow, ...definition, warnings: warningsOf(definition) }
  }

  function warningsOf(definition: Definition) {
    const event = triggerOf(definition).event
    const isKnown = event === undefined || [...otherTriggers, ...needs.eventNames()].includes(event)
    const unknown = { field: 'data.event', issue: `nothing emits ${event}, so it never starts by itself` }
    return [...checkDefinition(definition, types).missing, ...(isKnown ? [] : [unknown])]
  }

  /** Checks and stores the workflow, and what follows from it. */
  async function put(
    transaction: Parameters<typeof putWorkflow>[0],
    outbox: Outbox<WorkflowEvents>,
    { nodes, edges, warnings: _, ...workflow }: Workflow,
    isNewVersion: boolean,
  ): Promise<void> {
    const definition = { nodes, edges }
    const { problems, missing } = checkDefinition(definition, types)
    requireNone(workflow.status === 'active' ? [...problems, ...missing] : problems)
    await putWorkflow(transaction, workflow)
    if (isNewVersion) await insertVersion(transaction, workflow, definition)
    const { event } = triggerOf(definition)
    const isSubscribed = workflow.status === 'active' && event !== undefined && !otherTriggers.includes(event)
    await subscribe(transaction, workflow.id, isSubscribed ? event : undefined)
    // It may have more places now, or be active again.
    await lifecycle.startQueued(transaction, outbox, workflow.id)
  }

  return {
    get,

    list: (agent: AgentHandle, query: WorkflowListQuery): Promise<Page<WorkflowSummary>> =>
      listWorkflows(agent.db, query),

    async create(agent: AgentHandle, given: NewWorkflow): Promise<Workflow> {
      const at = timestamp(clock)
      const defaults = { description: '', status: 'draft', concurrency: 1, keep: 'all', tool: null } as const
      const own = { id: ids.record(), version: 1, created_at: at, updated_at: at }
      const workflow = { ...defaults, ...given, ...own, warnings: warningsOf(given) }
      await transact(agent, (transaction, outbox) => put(transaction, outbox, workflow, true))
      return workflow
    },

    update: (agent: AgentHandle, id: string, changes: WorkflowChanges): Promise<Workflow> =>
      transact(agent, async (transaction, outbox) => {
        const before = await get({ db: transaction }, id)
        const after = { ...before, ...changes, updated_at: timestamp(clock) }
        const isNewVersion = textOf(before) !== textOf(after)
        const workflow = { ...after, version: before.version + (isNewVersion ? 1 : 0) }
        await put(transaction, outbox, workflow, isNewVersion)
        return { ...workflow, warnings: warningsOf(workflow) }
      }),

    /** Its executions stay, ended, until their time is over. */
    remove: (agent: AgentHandle, id: string): Promise<void> =>
      transact(agent, async (transaction, outbox) => {
        if ((await findWorkflow(transaction, id)) === undefined) throw notFound('Workflow')
        await subscribe(transaction, id, undefined)
        await deleteWorkflow(transaction, id)
        for (const execution of await listActive(transaction, id, ['running', 'queued'], 20_000))
          await lifecycle.terminate({ transaction, outbox, agentId: agent.agentId }, execution.id)
      }),

    /** Begins an execution in a transaction of the caller, who has checked that the agent is active. */
    start: lifecycle.start,
  }
}

export type WorkflowsService = ReturnType<typeof createWorkflowsService>

/** What starts a workflow, as its trigger says. */
export function triggerOf({ nodes }: Definition) {
  const data = nodes.find(({ type }) => type === 'trigger')?.data ?? {}
  const { event, filter = [] } = data as { event?: string; filter?: readonly { left: unknown }[] }
  return { event, filter }
}

function textOf({ nodes, edges }: Definition): string {
  return JSON.stringify([nodes, edges])
}
