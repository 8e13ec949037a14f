import type { Kysely } from 'kysely'
import { conflict, invalid, notFound } from '#platform/errors.ts'
import type { Outbox } from '#platform/jobs/jobs.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { NodeResult } from './engine/plan.ts'
import { awaitsDecision } from './engine/plan.ts'
import { changeExecutions, findExecution } from './executions.repository.ts'
import { jobOf } from './lifecycle.service.ts'
import { decideNode, readResults } from './node-results.repository.ts'
import type { Decision } from './workflows.schema.ts'

export interface DecidedNode extends Decision {
  executionId: string
  nodeId: string
  /** Who decided. */
  by: string
}

/** Stores what a person has decided, and has the execution go on. */
export async function resumeNode(
  transaction: Kysely<AgentTables>,
  outbox: Pick<Outbox, 'add' | 'cancel'>,
  { executionId: id, nodeId, path, approved, data, by, at }: DecidedNode & { at: string },
): Promise<void> {
  const execution = await findExecution(transaction, id)
  if (execution?.status !== 'running') throw conflict('The execution does not run.')
  const waiting = (await readResults(transaction, id, 'waiting')).filter(
    result => result.node_id === nodeId && awaitsDecision(result),
  )
  const node = findOne(waiting, path)
  if (node === undefined) throw notFound('Node that waits for approval')
  if (node.due_at !== null && node.due_at <= at) throw conflict('The time to decide is over.')
  const output = JSON.stringify({ approved, data, by })
  await decideNode(transaction, id, node, { output, due_at: at })
  const [parked] = await changeExecutions(transaction, { id, isParked: true }, { waiting_until: at })
  // A process that runs other nodes of it looks for decisions itself.
  if (parked === undefined) return
  const job = jobOf(id, Date.parse(at))
  await outbox.cancel(job.key)
  await outbox.add(job)
}

function findOne(waiting: readonly NodeResult[], path: string | undefined): NodeResult | undefined {
  if (path !== undefined) return waiting.find(result => result.path === path)
  if (waiting.length > 1) throw invalid('path', 'is required: several runs of this node wait')
  return waiting[0]
}
