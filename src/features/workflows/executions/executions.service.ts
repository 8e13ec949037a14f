import { createHash } from 'node:crypto'
import { type Clock, timestamp } from '#platform/clock.ts'
import { conflict, notFound } from '#platform/errors.ts'
import type { Page } from '#platform/http/lists/list-query.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { checkDefinition, requireNode, requireNone } from '../definitions/definition.ts'
import { requireWorkflow } from '../definitions/workflows.service.ts'
import type { NodeTypes } from '../nodes/node-types.ts'
import {
  type ExecutionRow,
  findByKey,
  findExecution,
  listExecutions,
  toStarted,
  toSummary,
} from '../rows/executions.repository.ts'
import { readKeys, writeResults } from '../rows/node-results.repository.ts'
import type { WorkflowEvents } from '../workflows.events.ts'
import type { Execute, ExecutionListQuery, ExecutionSummary, Retry, Started } from '../workflows.schema.ts'
import type { ExecutionEnds } from './execution-ends.ts'
import { findPlace, type Lifecycle, maxDepth, type StartRequest } from './lifecycle.service.ts'
import { createInputs, shownInputs, writeNode } from './node-inputs.ts'
import { planRetry } from './plan-retry.ts'
import { type DecidedNode, resumeNode } from './resume-node.ts'

interface Dependencies {
  transact: Transact<WorkflowEvents>
  lifecycle: Lifecycle
  types: NodeTypes
  /** Returns the status of an agent. */
  statusOf(agentId: string): Promise<string>
  ends: Pick<ExecutionEnds, 'wait' | 'reserve'>
  clock: Clock
}

const refusals = {
  busy: () =>
    conflict('The workflow is running already. Wait for its end, terminate it, or raise its concurrency.'),
  full: () => conflict('Too many executions of this workflow are queued already.'),
  inactive: () => conflict('The workflow is not active: set its status to active first.'),
  missing: () => notFound('Workflow'),
}

function requireActive(status: string): void {
  if (status !== 'active') throw conflict(`The agent is ${status}: it starts nothing.`)
}

async function requirePlace({ db }: AgentHandle, request: StartRequest): Promise<void> {
  const place = await findPlace(db, request)
  if ('refused' in place) throw refusals[place.refused]()
}

/** Starts, reads, terminates and resumes executions. */
export function createExecutionsService(dependencies: Dependencies) {
  const { transact, lifecycle, types, ends, clock } = dependencies

  async function require({ db }: Pick<AgentHandle, 'db'>, id: string): Promise<ExecutionRow> {
    const execution = await findExecution(db, id)
    if (execution === undefined) throw notFound('Execution')
    return execution
  }

  /** @throws CONFLICT if nothing may start now. */
  async function start(agent: AgentHandle, request: StartRequest): Promise<Started> {
    requireActive(await dependencies.statusOf(agent.agentId))
    if ((request.depth ?? 0) > maxDepth)
      throw conflict(`More than ${maxDepth} executions have caused one another; this one is not started.`)
    const started = await transact(agent, (transaction, outbox) =>
      lifecycle.start(transaction, outbox, request),
    )
    if ('refused' in started) throw refusals[started.refused]()
    return started
  }

  return {
    start,

    /** Throws the error that `start` would throw now. */
    async requireStartable(agent: AgentHandle, request: StartRequest): Promise<void> {
      requireActive(await dependencies.statusOf(agent.agentId))
      await requirePlace(agent, request)
    },

    async execute(agent: AgentHandle, body: Execute, key: string | undefined): Promise<Started> {
      const { workflow_id, input = {}, pinned = {}, stop_after } = body
      const request = hashOf([workflow_id, input, pinned, stop_after])
      const same = key === undefined ? undefined : await findByKey(agent.db, key)
      if (same !== undefined) {
        if (JSON.parse(same.options).request === request) return toStarted(same)
        throw conflict('This Idempotency-Key was used for another request.')
      }
      const { version } = await requireWorkflow(agent.db, workflow_id)
      const { graph, missing } = checkDefinition(version, types)
      requireNone(missing.filter(({ node = '' }) => !Object.hasOwn(pinned, node)))
      for (const id of Object.keys(pinned)) requireNode(graph, id, 'pinned')
      if (stop_after !== undefined) requireNode(graph, stop_after, 'stop_after')
      const options = { pinned, ...(stop_after !== undefined && { stop_after }), ...(key && { request }) }
      const cause = { kind: 'manual' } as const
      return await start(agent, { workflow_id, input, cause, when_busy: 'refuse', key, options })
    },

    /** Starts an execution that reuses the results of an ended one. */
    retry: async (agent: AgentHandle, id: string, wanted: Retry): Promise<Started> =>
      start(agent, await planRetry(agent, types, await require(agent, id), wanted)),

    list: (agent: AgentHandle, query: ExecutionListQuery): Promise<Page<ExecutionSummary>> =>
      listExecutions(agent.db, query),

    /** Returns an `Execution` as JSON, in chunks. @param others fields before its own */
    async read(agent: AgentHandle, id: string, others: object = {}): Promise<AsyncGenerator<string>> {
      return writeExecution(agent, types, await require(agent, id), others)
    },

    /** Returns a node result as JSON, whole or with only the part of its input or output at the path. */
    readNode: async (agent: AgentHandle, id: string, nodeId: string, path?: string): Promise<string> =>
      writeNode(agent, types, await require(agent, id), nodeId, path),

    async terminate(agent: AgentHandle, id: string): Promise<ExecutionSummary> {
      await require(agent, id)
      const { agentId } = agent
      const [ended] = await transact(agent, (transaction, outbox) =>
        lifecycle.terminate({ transaction, outbox, agentId }, { id }),
      )
      if (ended === undefined) throw conflict('The execution has ended already.')
      return toSummary(ended)
    },

    /** Stores a person's decision on a node that waits for one. */
    async resume(agent: AgentHandle, node: DecidedNode): Promise<void> {
      await require(agent, node.executionId)
      await transact(agent, (transaction, outbox) =>
        resumeNode(transaction, outbox, { ...node, at: timestamp(clock) }),
      )
    },

    ended: ends.wait,
    reserveWait: ends.reserve,
  }
}

export type ExecutionsService = ReturnType<typeof createExecutionsService>

/** Writes an execution as JSON; columns that contain JSON are copied unchanged. */
async function* writeExecution(
  agent: AgentHandle,
  types: NodeTypes,
  row: ExecutionRow,
  others: object,
): AsyncGenerator<string> {
  const keys = await readKeys(agent.db, row.id)
  const inputOf = shownInputs(await createInputs(agent, types, row, keys))
  const summary = JSON.stringify({ ...others, ...toSummary(row) }).slice(0, -1)
  yield `${summary},"input":${row.input},"output":${row.output},"node_results":[`
  let separator = ''
  for await (const results of writeResults(agent.db, row, keys, inputOf)) {
    // All rows of a batch might have been deleted meanwhile.
    if (results.length === 0) continue
    yield separator + results.join(',')
    separator = ','
  }
  yield ']}'
}

function hashOf(request: unknown): string {
  return createHash('sha256').update(JSON.stringify(request)).digest('base64')
}
