import type { Kysely } from 'kysely'
import { conflict, invalid, notFound } from '#platform/errors.ts'
import type { Outbox } from '#platform/jobs/jobs.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { NodeResult } from './engine/plan.ts'
import { segmentJob, segmentKey } from './execution-lifecycle.ts'
import { changeExecution, decideNode, findExecution, readResults } from './executions.repository.ts'
import type { Decision } from './workflows.schema.ts'

export interface DecidedPlace {
  executionId: string
  nodeId: string
}

/** Stores what a person has decided, and has the execution go on. */
export async function resumeNode(
  transaction: Kysely<AgentTables>,
  outbox: Pick<Outbox, 'add' | 'cancel'>,
  { executionId: id, nodeId }: DecidedPlace,
  { approved, data, path, by, at }: Decision & { by: string; at: string },
): Promise<void> {
  const execution = await findExecution(transaction, id)
  if (execution === undefined) throw notFound('Execution')
  if (execution.status !== 'running') throw conflict('The execution does not run.')
  const waiting = findWaiting(await readResults(transaction, id), nodeId, path)
  if (waiting === undefined) throw notFound('Node that waits for approval')
  await decideNode(transaction, id, waiting, { output: JSON.stringify({ approved, data, by }), due_at: at })
  const changes = { nextSegment: true, waiting_until: at } as const
  const resumed = await changeExecution(transaction, { id, isParked: true }, changes)
  // While other nodes run, their process looks for decisions before it waits.
  if (resumed === undefined) return
  await outbox.cancel(segmentKey(id, execution.segment))
  await outbox.add(segmentJob(resumed))
}

function findWaiting(results: ReadonlyMap<string, NodeResult>, nodeId: string, path: string | undefined) {
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
