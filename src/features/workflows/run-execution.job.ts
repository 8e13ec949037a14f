import type { Clock } from '#platform/clock.ts'
import type { JobContext, JobHandler, Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { readGraph, upTo } from './engine/graph.ts'
import type { Outcome } from './engine/plan.ts'
import { runNode } from './engine/run-node.ts'
import { completion, Overtaken, runSegment } from './engine/run-segment.ts'
import { scopeOf } from './engine/scope.ts'
import type { ExecutionOptions, Lifecycle } from './execution-lifecycle.ts'
import { segmentJob } from './execution-lifecycle.ts'
import type { ExecutionRow } from './executions.repository.ts'
import { changeExecution, firstDue, readResults, recordResults } from './executions.repository.ts'
import type { NodeTypes } from './nodes/node-types.ts'
import { runningDepth } from './running-depth.ts'
import type { WorkflowEvents } from './workflows.events.ts'
import { findDefinition, findWorkflow } from './workflows.repository.ts'

interface Dependencies {
  transact: Transact<WorkflowEvents>
  lifecycle: Lifecycle
  types: NodeTypes
  clock: Clock
  /** Whether no other process can take an execution over. */
  isExclusive: boolean
}

interface Payload {
  executionId: string
  segment: number
}

/** Runs one segment of an execution: until it ends, or has to wait for long. */
export function createRunExecution(needs: Dependencies): JobHandler<AgentHandle> {
  const { transact, lifecycle } = needs
  return {
    lane: 'executions',

    async run(context) {
      const { agent } = context
      const { executionId: id, segment } = context.payload as Payload
      const claim = { takesOver: true, waiting_until: null } as const
      const execution = await changeExecution(agent.db, { id, segment }, claim)
      if (execution === undefined) return
      try {
        const outcome = await runningDepth.run(execution.depth, () => runClaimed(needs, context, execution))
        await transact(agent, async (transaction, outbox) => {
          const guard = { id, attempt: execution.attempt }
          if (outcome !== 'waiting')
            return void (await lifecycle.end(
              { transaction, outbox, agentId: agent.agentId },
              guard,
              endingOf(outcome),
            ))
          const waiting_until = await firstDue(transaction, id)
          if (waiting_until === undefined) throw new Error('an execution waits for nothing')
          const parked = await changeExecution(transaction, guard, { nextSegment: true, waiting_until })
          if (parked !== undefined) await outbox.add(segmentJob(parked, Date.parse(waiting_until)))
        })
      } catch (error) {
        if (!(error instanceof Overtaken)) throw error
      }
    },

    async onFailed({ agent, payload }, error) {
      const { executionId: id, segment } = payload as Payload
      const changes = {
        status: 'errored',
        output: null,
        error: `It could not be continued: ${error}`,
      } as const
      await transact(agent, (transaction, outbox) =>
        lifecycle.end({ transaction, outbox, agentId: agent.agentId }, { id, segment }, changes),
      )
    },
  }
}

async function runClaimed(
  { types, clock, isExclusive }: Dependencies,
  { agent, signal, log }: JobContext<AgentHandle>,
  execution: ExecutionRow,
): Promise<Outcome | 'waiting'> {
  const { id, workflow_id: workflowId, version, depth } = execution
  const { pinned = {}, stop_after } = JSON.parse(execution.options) as ExecutionOptions
  const definition = await findDefinition(agent.db, workflowId, version)
  const workflow = await findWorkflow(agent.db, workflowId)
  if (definition === undefined) throw new Overtaken()
  const { graph } = readGraph(stop_after === undefined ? definition : upTo(definition, stop_after))
  const results = await readResults(agent.db, id)
  const roots = {
    input: JSON.parse(execution.input),
    execution: { id },
    workflow: { id: workflowId, name: workflow?.name },
    trigger: JSON.parse(execution.cause),
    agent: { id: agent.agentId },
  }
  return await runSegment({
    graph,
    results,
    clock,
    signal,
    record: rows => recordResults(agent.db, execution, rows, isExclusive),
    runNode: (begun, nodeSignal) =>
      runNode({
        ...begun,
        scope: scopeOf(begun.place, graph, results, { ...roots, now: new Date(clock.now()).toISOString() }),
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

function endingOf(outcome: Outcome) {
  if ('failed' in outcome) {
    const where = outcome.failed === '' ? '' : `${outcome.failed}: `
    return { status: 'errored' as const, output: null, error: where + outcome.error }
  }
  const text = outcome.output.startsWith('{') ? outcome.output : `{"result":${outcome.output}}`
  const { status, error, output } = completion(text)
  return { status, error, output: status === 'errored' ? null : output }
}
