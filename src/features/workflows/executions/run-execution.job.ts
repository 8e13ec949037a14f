import { currentActor } from '#platform/actor.ts'
import type { Clock } from '#platform/clock.ts'
import { parseJson } from '#platform/exact-json.ts'
import { causeDepth } from '#platform/jobs/cause-depth.ts'
import { type JobContext, type JobHandler, JobYields, type Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import { readSecrets } from '../definitions/protect-definition.ts'
import { readGraph, upTo } from '../engine/graph.ts'
import {
  awaitsDecision,
  awaitsPerson,
  keyOf,
  type NodeResult,
  type Outcome,
  resultsOf,
} from '../engine/plan.ts'
import { completion, type Ended, Overtaken, type Pause, runSegment } from '../engine/run-segment.ts'
import { scopeOf } from '../engine/scope.ts'
import type { BrowserSessions } from '../nodes/browser.ts'
import type { NodeTypes } from '../nodes/node-types.ts'
import { runKey, runNode } from '../nodes/run-node.ts'
import {
  changeExecutions,
  claimExecution,
  type ExecutionRow,
  type Guard,
} from '../rows/executions.repository.ts'
import { readResults, recordResults } from '../rows/node-results.repository.ts'
import { findVersion } from '../rows/workflows.repository.ts'
import type { Cause, WorkflowEvents } from '../workflows.events.ts'
import { rootsOf } from './execution-roots.ts'
import type { AbandonTurns, Ending, ExecutionOptions, Lifecycle } from './lifecycle.service.ts'

interface Dependencies {
  transact: Transact<WorkflowEvents>
  lifecycle: Lifecycle
  abandonTurns: AbandonTurns
  types: NodeTypes
  sessions: Pick<BrowserSessions, 'release'>
  agentSecrets: Pick<AgentSecrets, 'read'>
  clock: Clock
  /** True if no other process can take over an execution. */
  isExclusive: boolean
}

/** Runs one segment of an execution: until it has ended, or until it has to wait for long. */
export function createRunExecution(dependencies: Dependencies): JobHandler<AgentHandle> {
  const { transact, lifecycle } = dependencies

  function fail({ agent }: JobContext<AgentHandle>, guard: Guard, error: string): Promise<unknown> {
    const { agentId } = agent
    return transact(agent, (transaction, outbox) =>
      lifecycle.end({ transaction, outbox, agentId }, guard, { status: 'errored', error }),
    )
  }

  async function run(context: JobContext<AgentHandle>): Promise<void> {
    const { agent } = context
    const id = idOf(context)
    const execution = await claimExecution(agent.db, id)
    if (execution === undefined)
      return void (await fail(context, { id, statuses: ['queued'] }, 'It waited in vain for a place.'))
    const guard = { id, attempt: execution.attempt }
    let isOver = true
    try {
      const outcome = await causeDepth.run(execution.depth, () =>
        runClaimed(dependencies, context, execution),
      )
      isOver = !('waitsFor' in outcome)
      const until = await transact(agent, async (transaction, outbox) => {
        const ending = { transaction, outbox, agentId: agent.agentId }
        if ('waitsFor' in outcome) return await park(ending, lifecycle, execution, outcome)
        // The execution's row is not locked: the transaction changes it, and so conflicts with a takeover.
        if (await recordResults(transaction, execution, outcome.unrecorded, true))
          await lifecycle.end(ending, guard, endingOf(outcome))
        return undefined
      })
      if (until !== undefined) throw new JobYields({ until: Date.parse(until) })
    } finally {
      if (isOver) await release(context, id)
    }
  }

  /** Ends the execution's browser session. */
  async function release({ agent, log }: JobContext<AgentHandle>, id: string): Promise<void> {
    await dependencies.sessions
      .release(agent, id)
      .catch(error => log.warn({ err: error }, 'a browser session was not ended'))
  }

  return {
    lane: 'executions',

    run: context =>
      run(context).catch(error => {
        if (!(error instanceof Overtaken)) throw error
      }),

    onFailed: async (context, error) =>
      void (await fail(context, { id: idOf(context) }, `It could not be continued: ${error}`)),
  }
}

/**
 * Parks the execution until its first node is due, and returns that time, or undefined if it is not as it was
 * claimed. A person might have decided meanwhile, and failed items of loops can leave nodes that wait
 * forever. The event of a wait is emitted once, even if a crash repeats the wait.
 */
async function park(
  { transaction, outbox, agentId }: Ending,
  { startQueued }: Pick<Lifecycle, 'startQueued'>,
  { id, attempt, workflow_id, depth, cause, last_wait: announced }: ExecutionRow,
  { waitsFor }: Pause,
) {
  const keys = new Set(waitsFor)
  const stored = await readResults(transaction, id, 'waiting')
  const waiting = stored.filter(({ node_id, path }) => keys.has(keyOf(node_id, path)))
  const [until] = waiting.map(({ due_at }) => due_at).toSorted()
  if (!until) throw new Error('an execution waits for nothing')
  const reason = waiting.some(awaitsPerson) ? 'approval' : 'time'
  const last_wait = `${reason} ${until}`
  const changes = { waiting_until: until, last_wait }
  const [parked] = await changeExecutions(transaction, { id, attempt }, changes)
  if (parked === undefined) return undefined
  const facts = { agent_id: agentId, workflow_id, execution_id: id, depth, cause: JSON.parse(cause) as Cause }
  if (last_wait !== announced) await outbox.emit('workflow.waiting', { ...facts, reason, until })
  // The parked execution's place might be free now.
  await startQueued(transaction, outbox, workflow_id)
  return until
}

function idOf({ payload }: JobContext<AgentHandle>): string {
  return (payload as { executionId: string }).executionId
}

/** Stores results of nodes with their consequences; false if the execution is no longer as it was claimed. */
async function record(
  { transact, abandonTurns, isExclusive }: Dependencies,
  agent: AgentHandle,
  execution: ExecutionRow,
  rows: readonly NodeResult[],
): Promise<boolean> {
  const { id, workflow_id, depth } = execution
  const asking = rows.filter(awaitsDecision)
  const failed = rows
    .filter(({ status }) => status === 'errored')
    .map(row => runKey(id, row.node_id, row.path))
  if (asking.length + failed.length === 0) return await recordResults(agent.db, execution, rows, isExclusive)
  return await transact(agent, async (transaction, outbox) => {
    if (!(await recordResults(transaction, execution, rows, isExclusive))) return false
    const own = { agent_id: agent.agentId, workflow_id, execution_id: id }
    const facts = { ...own, depth, cause: JSON.parse(execution.cause) as Cause }
    await outbox.emit('approval.requested', ...asking.map(row => ({ ...facts, ...requestOf(row) })))
    if (failed.length > 0)
      await abandonTurns({ transaction, outbox }, workflow_id, key => failed.includes(key))
    return true
  })
}

async function runClaimed(
  dependencies: Dependencies,
  { agent, signal, progressed, log }: JobContext<AgentHandle>,
  execution: ExecutionRow,
): Promise<Ended | Pause> {
  const { types, agentSecrets, clock } = dependencies
  const { id, workflow_id: workflowId, version, depth } = execution
  const { pinned = {}, stop_after } = parseJson(execution.options) as ExecutionOptions
  const definition = await findVersion(agent.db, workflowId, version)
  if (definition === undefined) throw new Overtaken()
  const secrets = await readSecrets(agentSecrets, agent.agentId, definition.secret_set)
  const { graph } = readGraph(stop_after === undefined ? definition : upTo(definition, stop_after))
  const roots = rootsOf(agent, execution)
  const results = resultsOf(await readResults(agent.db, id))
  const actor = { kind: 'workflow', id: workflowId, name: roots.workflow.name ?? null } as const
  return await currentActor.run(actor, runSegment, {
    graph,
    results,
    clock,
    signal,
    async record(rows) {
      const isRecorded = await record(dependencies, agent, execution, rows)
      if (isRecorded && rows.some(({ status }) => status !== 'running')) await progressed()
      return isRecorded
    },
    readWaiting: () => readResults(agent.db, id, 'waiting'),
    onlyComputes: ({ node }) => types.get(node.type)?.onlyComputes ?? false,
    runNode: (begun, nodeSignal) =>
      runNode({
        ...begun,
        scope: scopeOf(begun.place, graph, results, { ...roots, now: begun.result.started_at }),
        secrets: secrets[begun.place.node.id] ?? {},
        execution: { id, workflowId, depth },
        types,
        pinned,
        agent,
        clock,
        signal: nodeSignal,
        log,
      }),
  })
}

/** Returns the approval request of a node that waits for a decision. */
function requestOf({ node_id, path, output, due_at }: NodeResult) {
  const { approval } = JSON.parse(output ?? '{}') as { approval: string }
  return { node_id, path, approval, expires_at: due_at ?? '' }
}

function endingOf(outcome: Outcome) {
  if ('failed' in outcome) {
    const where = outcome.failed === '' ? '' : `${outcome.failed}: `
    return { status: 'errored', error: `${where}${outcome.error}` } as const
  }
  const text = outcome.output.startsWith('{') ? outcome.output : `{"result":${outcome.output}}`
  const { status, output, error } = completion(text)
  return status === 'complete' ? { status, output } : { status, error }
}
