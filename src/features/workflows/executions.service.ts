import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { AppError, conflict, invalid, notFound } from '#platform/errors.ts'
import type { Page } from '#platform/http/lists/list-query.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { checkDefinition, requireNone } from './definition.ts'
import type { Graph } from './engine/graph.ts'
import { reachable, readGraph } from './engine/graph.ts'
import type { NodeResult } from './engine/plan.ts'
import type { Lifecycle, StartRequest } from './execution-lifecycle.ts'
import { segmentJob, segmentKey } from './execution-lifecycle.ts'
import type { ExecutionRow } from './executions.repository.ts'
import {
  changeExecution,
  decideNode,
  findByKey,
  findExecution,
  listExecutions,
  listResults,
  readResults,
  toSummary,
} from './executions.repository.ts'
import type { NodeTypes } from './nodes/node-types.ts'
import { maxDepth } from './running-depth.ts'
import type { WorkflowEvents } from './workflows.events.ts'
import { findDefinition, findWorkflow } from './workflows.repository.ts'
import type {
  Decision,
  Definition,
  Execute,
  Execution,
  ExecutionListQuery,
  ExecutionSummary,
  Retry,
  Started,
} from './workflows.schema.ts'

interface Dependencies {
  transact: Transact<WorkflowEvents>
  lifecycle: Lifecycle
  types: NodeTypes
  statusOf(agentId: string): Promise<string>
  clock: Clock
}

const refusals = {
  busy: conflict(
    'The workflow is running already. Wait for its end, terminate it, or raise its concurrency.',
  ),
  full: conflict('Too many executions of this workflow are queued already.'),
  inactive: conflict('The workflow is not active: set its status to active first.'),
  missing: notFound('Workflow'),
}

/** Executions: what people and programs do with them while they run, and afterwards. */
export function createExecutionsService({ transact, lifecycle, types, statusOf, clock }: Dependencies) {
  async function require({ db }: Pick<AgentHandle, 'db'>, id: string): Promise<ExecutionRow> {
    const execution = await findExecution(db, id)
    if (execution === undefined) throw notFound('Execution')
    return execution
  }

  /** @throws CONFLICT where nothing may start now. */
  async function start(agent: AgentHandle, request: StartRequest): Promise<Started> {
    const status = await statusOf(agent.agentId)
    if (status !== 'active') throw conflict(`The agent is ${status}: it starts nothing.`)
    if ((request.depth ?? 0) > maxDepth)
      throw conflict(`More than ${maxDepth} executions have caused one another; this one is not started.`)
    const started = await transact(agent, (transaction, outbox) =>
      lifecycle.start(transaction, outbox, request),
    )
    if ('refused' in started) throw refusals[started.refused]
    const { started_at } = await require(agent, started.execution_id)
    return { ...started, started_at }
  }

  async function definitionOf(
    { db }: AgentHandle,
    workflowId: string,
    version?: number,
  ): Promise<Definition> {
    const workflow = await findWorkflow(db, workflowId)
    const definition = workflow && (await findDefinition(db, workflowId, version ?? workflow.version))
    if (definition === undefined) throw notFound('Workflow')
    return definition
  }

  return {
    start,

    async execute(agent: AgentHandle, given: Execute, key: string | undefined): Promise<Started> {
      const { workflow_id, input = {}, pinned = {}, stop_after } = given
      const request = JSON.stringify([workflow_id, input, pinned, stop_after])
      const same = key === undefined ? undefined : await findByKey(agent.db, key)
      if (same !== undefined && JSON.parse(same.options).request !== request)
        throw conflict('This Idempotency-Key was used for another request.')
      const { graph, missing } = checkDefinition(await definitionOf(agent, workflow_id), types)
      requireNone(missing.filter(({ node = '' }) => !Object.hasOwn(pinned, node)))
      for (const id of Object.keys(pinned)) requireNode(graph, id, 'pinned')
      if (stop_after !== undefined) requireNode(graph, stop_after, 'stop_after')
      const options = { pinned, ...(stop_after !== undefined && { stop_after }), ...(key && { request }) }
      return await start(agent, {
        workflow_id,
        input,
        cause: { kind: 'manual' },
        when_busy: 'refuse',
        key,
        options,
      })
    },

    /** A new execution that takes over what an ended one has achieved. */
    async retry(agent: AgentHandle, id: string, { from_node, version = 'current' }: Retry): Promise<Started> {
      const { status, workflow_id, input, depth, ...before } = await require(agent, id)
      if (status === 'running' || status === 'queued') throw conflict('The execution has not ended yet.')
      const former = await definitionOf(agent, workflow_id, before.version)
      const sameVersion = version === 'same' ? { version: before.version } : {}
      const definition = version === 'same' ? former : await definitionOf(agent, workflow_id)
      const { graph, missing } = checkDefinition(definition, types)
      requireNone(missing)
      if (from_node !== undefined) requireNode(graph, from_node, 'from_node')
      const results = reusable(await readResults(agent.db, id), graph, from_node)
      requireUnchanged(results, former, graph)
      return await start(agent, {
        workflow_id,
        input: JSON.parse(input),
        cause: { kind: 'manual', ref: id },
        depth,
        when_busy: 'refuse',
        results,
        ...sameVersion,
      })
    },

    list: (agent: AgentHandle, query: ExecutionListQuery): Promise<Page<ExecutionSummary>> =>
      listExecutions(agent.db, query),

    async get(agent: AgentHandle, id: string): Promise<Execution> {
      const row = await require(agent, id)
      const { input, output } = row
      const node_results = await listResults(agent.db, row)
      return {
        ...toSummary(row),
        input: JSON.parse(input),
        output: JSON.parse(output ?? 'null'),
        node_results,
      }
    },

    async terminate(agent: AgentHandle, id: string): Promise<ExecutionSummary> {
      await require(agent, id)
      const ended = await transact(agent, (transaction, outbox) =>
        lifecycle.terminate(transaction, outbox, agent.agentId, id),
      )
      if (ended === undefined) throw conflict('The execution has ended already.')
      return toSummary(ended)
    },

    /** A person's decision on a node that waits for one. */
    resume: (agent: AgentHandle, id: string, nodeId: string, decision: Decision, by: string): Promise<void> =>
      transact(agent, async (transaction, outbox) => {
        const execution = await require({ db: transaction }, id)
        const waiting = findWaiting(await readResults(transaction, id), nodeId, decision.path)
        if (waiting === undefined) throw notFound('Node that waits for approval')
        if (execution.status !== 'running') throw conflict('The execution has ended already.')
        const { approved, data } = decision
        const output = JSON.stringify({ approved, data, by })
        await decideNode(transaction, id, waiting, { output, due_at: timestamp(clock) })
        const changes = { nextSegment: true, waiting_until: timestamp(clock) } as const
        const resumed = await changeExecution(transaction, { id, isParked: true }, changes)
        // While it runs, its process looks for decisions before it waits.
        if (resumed === undefined) return
        await outbox.cancel(segmentKey(id, execution.segment))
        await outbox.add(segmentJob(resumed))
      }),

    /** How the execution has ended; undefined if it takes longer than that (milliseconds). */
    async ended(agent: AgentHandle, id: string, patience: number, signal: AbortSignal) {
      const until = performance.now() + patience
      for (let pause = 20; performance.now() < until; pause = Math.min(pause * 2, 1_000)) {
        const execution = await require(agent, id)
        if (execution.completed_at !== null) return execution
        await delay(pause, undefined, { signal })
      }
      return undefined
    },
  }
}

export type ExecutionsService = ReturnType<typeof createExecutionsService>

function requireNode({ nodes }: Graph, id: string, field: string): void {
  if (!nodes.has(id)) throw invalid(field, `names the node ${id}, which is not there`)
}

/** What a retry need not do again: all that has ended well before the node, or, without one, at all. */
function reusable(results: ReadonlyMap<string, NodeResult>, graph: Graph, from?: string): NodeResult[] {
  const next = (id: string) => (graph.outgoing.get(id) ?? []).map(({ target }) => target)
  const repeated = reachable(from === undefined ? [] : [outermost(graph, from)], next)
  const isHandled = (id: string) =>
    graph.outgoing.get(id)?.some(({ sourceHandle }) => sourceHandle === 'error')
  return [...results.values()].filter(({ node_id, path, status }) => {
    const isDone = status === 'complete' || (status === 'errored' && isHandled(node_id))
    return isDone && path === '' && !repeated.has(node_id)
  })
}

/** Loops begin again as a whole. */
function outermost({ loopOf }: Graph, id: string): string {
  const loop = loopOf.get(id)
  return loop === undefined ? id : outermost({ loopOf } as Graph, loop)
}

function requireUnchanged(results: readonly NodeResult[], former: Definition, { nodes }: Graph): void {
  const before = readGraph(former).graph.nodes
  const changed = results.find(({ node_id }) => nodes.get(node_id)?.type !== before.get(node_id)?.type)
  if (changed === undefined) return
  const issue = `the node ${changed.node_id}, whose result is needed, was removed or is of another type now`
  throw new AppError('VALIDATION_ERROR', `${issue}: use version "same".`, {
    details: { field: 'version', issue },
  })
}

function findWaiting(results: ReadonlyMap<string, NodeResult>, nodeId: string, path?: string) {
  const waiting = [...results.values()].filter(
    ({ node_id, status, output }) => node_id === nodeId && status === 'waiting' && isForApproval(output),
  )
  if (path !== undefined) return waiting.find(result => result.path === path)
  if (waiting.length > 1) throw invalid('path', 'is required: several runs of this node wait')
  return waiting[0]
}

function isForApproval(output: string | null): boolean {
  return typeof JSON.parse(output ?? '{}').approval === 'string'
}
