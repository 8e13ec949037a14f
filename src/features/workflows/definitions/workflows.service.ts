import { isDeepStrictEqual } from 'node:util'
import { timestamp } from '#platform/clock.ts'
import { type AppError, conflict, notFound } from '#platform/errors.ts'
import type { Page } from '#platform/http/lists/list-query.ts'
import type { ChangeContext, Outbox } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import type { Problem } from '../engine/graph.ts'
import type { HookResponse } from '../nodes/hook-response.ts'
import type { NodeTypes } from '../nodes/node-types.ts'
import {
  deleteWorkflow,
  findVersion,
  findWorkflow,
  insertVersion,
  listSecretSets,
  listWorkflows,
  putWorkflow,
  subscribe,
  type Version,
} from '../rows/workflows.repository.ts'
import type { WorkflowEvents } from '../workflows.events.ts'
import type {
  Definition,
  NewWorkflow,
  Workflow,
  WorkflowChanges,
  WorkflowListQuery,
  WorkflowSummary,
} from '../workflows.schema.ts'
import { checkDefinition, requireNone } from './definition.ts'
import { protectDefinition } from './protect-definition.ts'

interface Dependencies extends ChangeContext<WorkflowEvents> {
  /** The executions of a workflow, within the transaction that changes it. */
  lifecycle: {
    startQueued(transaction: Database, outbox: Jobs, workflowId: string): Promise<void>
    terminate(
      ending: { transaction: Database; outbox: Outbox<WorkflowEvents>; agentId: string },
      which: { workflow_id: string },
    ): Promise<unknown>
  }
  types: NodeTypes
  agentSecrets: AgentSecrets
  /** Returns the events that any feature emits. */
  eventNames(): readonly string[]
}

/** Triggers other than events. */
const otherTriggers = ['manual', 'webhook']
const nothing: Version = { nodes: [], edges: [], secret_set: null }

const defaults = {
  description: '',
  status: 'draft',
  concurrency: 1,
  concurrency_counts_waiting: true,
  keep: 'all',
  tool: null,
} as const

type Database = AgentHandle['db']
type Jobs = Pick<Outbox, 'add' | 'cancel'>
export interface Stored {
  workflow: WorkflowSummary
  version: Version
}

/** Manages workflows: their definitions and versions. */
export function createWorkflowsService(dependencies: Dependencies) {
  const { transact, lifecycle, types, agentSecrets, clock, ids } = dependencies

  function toWorkflow({ workflow, version: { nodes, edges } }: Stored): Workflow {
    const { event } = triggerOf({ nodes })
    const isKnown = event === undefined || [...otherTriggers, ...dependencies.eventNames()].includes(event)
    const unknown = { field: 'data.event', issue: `nothing emits ${event}, so it never starts by itself` }
    const { missing, templates } = checkDefinition({ nodes, edges }, types)
    const warnings = [...missing, ...templates, ...(isKnown ? [] : [unknown])]
    return { ...workflow, nodes, edges, warnings }
  }

  /** Stores the workflow, updates its event subscription, and starts its queued executions. */
  async function put(transaction: Database, outbox: Jobs, { workflow, version }: Stored): Promise<void> {
    await putWorkflow(transaction, workflow)
    const { event } = triggerOf(version)
    const isSubscribed = workflow.status === 'active' && event !== undefined && !otherTriggers.includes(event)
    await subscribe(transaction, workflow.id, isSubscribed ? event : undefined)
    // The workflow might have more places now, or be active again.
    await lifecycle.startQueued(transaction, outbox, workflow.id)
  }

  return {
    get: async (agent: AgentHandle, id: string): Promise<Workflow> =>
      toWorkflow(await requireWorkflow(agent.db, id)),

    list: (agent: AgentHandle, query: WorkflowListQuery): Promise<Page<WorkflowSummary>> =>
      listWorkflows(agent.db, query),

    async create(agent: AgentHandle, { nodes, edges, ...givenFields }: NewWorkflow): Promise<Workflow> {
      const at = timestamp(clock)
      const own = { id: ids.record(), version: 1, created_at: at, updated_at: at }
      const workflow = { ...defaults, ...givenFields, ...own }
      const change = { agentId: agent.agentId, wanted: { nodes, edges }, before: nothing }
      await requireSavable(types, change, workflow.status)
      const version = await protectDefinition(dependencies, change)
      await transact(agent, async (transaction, outbox) => {
        await put(transaction, outbox, { workflow, version })
        await insertVersion(transaction, workflow, version)
      })
      return toWorkflow({ workflow, version })
    },

    async update(agent: AgentHandle, id: string, changes: WorkflowChanges): Promise<Workflow> {
      const before = await requireWorkflow(agent.db, id)
      const { nodes = before.version.nodes, edges = before.version.edges, ...others } = changes
      const change = { agentId: agent.agentId, wanted: { nodes, edges }, before: before.version }
      await requireSavable(types, change, changes.status ?? before.workflow.status)
      const version = await protectDefinition(dependencies, change)
      const isNew = version !== before.version
      const number = before.workflow.version + Number(isNew)
      const workflow = { ...before.workflow, ...others, version: number, updated_at: timestamp(clock) }
      await transact(agent, async (transaction, outbox) => {
        const current = await requireWorkflow(transaction, id)
        if (JSON.stringify(current) !== JSON.stringify(before)) throw changedMeanwhile()
        if (isNew) await insertVersion(transaction, workflow, version)
        await put(transaction, outbox, { workflow, version })
      })
      return toWorkflow({ workflow, version })
    },

    /** Deletes a workflow and ends its executions; ended executions stay until they are pruned. */
    async remove(agent: AgentHandle, id: string): Promise<void> {
      const { agentId } = agent
      const secretSets = await transact(agent, async (transaction, outbox) => {
        await requireWorkflow(transaction, id)
        const sets = await listSecretSets(transaction, id)
        await subscribe(transaction, id, undefined)
        await deleteWorkflow(transaction, id)
        await lifecycle.terminate({ transaction, outbox, agentId }, { workflow_id: id })
        return sets
      })
      await agentSecrets.remove(agentId, secretSets)
    },
  }
}

export type WorkflowsService = ReturnType<typeof createWorkflowsService>

/** Returns a workflow with one of its versions, which defaults to the current one. */
export async function requireWorkflow(database: Database, id: string, number?: number): Promise<Stored> {
  const workflow = await findWorkflow(database, id)
  const version = workflow && (await findVersion(database, id, number ?? workflow.version))
  if (!(workflow && version)) throw notFound('Workflow')
  return { workflow, version }
}

interface Change {
  agentId: string
  wanted: Definition
  before: Definition
}

/** @throws VALIDATION_ERROR that names all problems, except template problems that were stored `before`. */
async function requireSavable(types: NodeTypes, change: Change, status: WorkflowSummary['status']) {
  const { wanted, before } = change
  const { problems, missing, templates } = checkDefinition(wanted, types)
  const keptProblems = templates.length > 0 ? checkDefinition(before, types).templates : []
  const others = templates.filter(one => !keptProblems.some(former => isDeepStrictEqual(one, former)))
  requireNone([...problems, ...others, ...(status === 'active' ? missing : [])])
  requireNone(await slowProblems(types, change))
}

async function slowProblems(types: NodeTypes, { agentId, wanted, before }: Change): Promise<Problem[]> {
  const problems = wanted.nodes.map(async ({ id, type, data }) => {
    const former = before.nodes.find(node => node.id === id && node.type === type)
    if (isDeepStrictEqual(former?.data, data)) return []
    const problem = await types.get(type)?.check?.(data as never, agentId)
    return problem === undefined ? [] : [{ node: id, field: `data.${problem.field}`, issue: problem.issue }]
  })
  return (await Promise.all(problems)).flat()
}

interface TriggerData {
  event?: string
  filter?: readonly unknown[]
  respond?: 'at_once' | 'at_end'
  response?: HookResponse
}

/** Returns the trigger of a workflow. */
export function triggerOf({ nodes }: Pick<Definition, 'nodes'>) {
  const data = nodes.find(({ type }) => type === 'trigger')?.data ?? {}
  const { event, filter = [], respond, response } = data as TriggerData
  return { event, filter, respond, response }
}

function changedMeanwhile(): AppError {
  return conflict('The workflow has just been changed by somebody else. Read it, and try again.')
}
