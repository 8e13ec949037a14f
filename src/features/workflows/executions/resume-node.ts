import type { Kysely } from 'kysely'
import type { ChatFeature } from '#features/chat/chat.feature.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import { conflict, invalid, notFound } from '#platform/errors.ts'
import { type JobHandler, JobYields, type Outbox, type Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import { awaitsDecision, type NodeResult } from '../engine/plan.ts'
import { messageIdOf } from '../nodes/chat.ts'
import { changeExecutions, findExecution } from '../rows/executions.repository.ts'
import { decideNode, readKeys, readResults } from '../rows/node-results.repository.ts'
import type { Decision } from '../workflows.schema.ts'
import { jobOf } from './lifecycle.service.ts'

/** Delay before a node that is about to wait or to end is read again (ms). */
const startingMs = 300

export interface DecidedNode extends Decision {
  executionId: string
  nodeId: string
  /** The person who decided. */
  by: string
  /** Called with the decision, in its transaction. */
  also?: (transaction: Kysely<AgentTables>) => Promise<void>
}

/** Stores a person's decision and continues the execution. */
export async function resumeNode(
  transaction: Kysely<AgentTables>,
  outbox: Pick<Outbox, 'add' | 'cancel'>,
  { executionId: id, nodeId, path, approved, data, by, at, also }: DecidedNode & { at: string },
): Promise<void> {
  const execution = await findExecution(transaction, id)
  if (execution?.status !== 'running') throw conflict('The execution does not run.')
  const waiting = (await readResults(transaction, id, 'waiting')).filter(
    result => result.node_id === nodeId && awaitsDecision(result),
  )
  const node = findOne(waiting, path)
  if (node === undefined) throw notFound('Node that waits for approval')
  if (node.due_at !== null && node.due_at <= at) throw conflict('The time to decide is over.')
  await also?.(transaction)
  const output = JSON.stringify({ approved, data, by })
  await goOn(transaction, outbox, id, node, { output, due_at: at })
}

interface Deciding extends Pick<ChatFeature, 'abandon'> {
  transact: Transact
  clock: Clock
}

/** Continues a node after the decision on its turn. The payload names execution, node and path. */
export function createChatDecided({ transact, abandon, clock }: Deciding): JobHandler<AgentHandle> {
  return {
    lane: 'timers',
    async run({ agent, payload }) {
      const [id = '', nodeId, path] = String(payload).split(':')
      const isNode = (row: Pick<NodeResult, 'node_id' | 'path'>) =>
        row.node_id === nodeId && row.path === path
      const status = await transact(agent, async (transaction, outbox) => {
        const execution = await findExecution(transaction, id)
        if (execution?.status !== 'running') return 'ended'
        const node = (await readResults(transaction, id, 'waiting')).find(isNode)
        const at = timestamp(clock)
        if (node?.output) await goOn(transaction, outbox, id, node, { output: node.output, due_at: at })
        return node?.status ?? (await readKeys(transaction, id, 'running')).find(isNode)?.status ?? 'ended'
      })
      if (status === 'ended') return await abandon(agent, messageIdOf(String(payload)))
      if (status === 'running') throw new JobYields({ until: clock.now() + startingMs })
    },
  }
}

async function goOn(
  transaction: Kysely<AgentTables>,
  outbox: Pick<Outbox, 'add' | 'cancel'>,
  id: string,
  node: NodeResult,
  decision: { output: string; due_at: string },
): Promise<void> {
  await decideNode(transaction, id, node, decision)
  const [parked] = await changeExecutions(
    transaction,
    { id, isParked: true },
    { waiting_until: decision.due_at },
  )
  // A process that runs other nodes of this execution looks for decisions itself.
  if (parked === undefined) return
  const job = jobOf(id, Date.parse(decision.due_at))
  await outbox.cancel(job.key)
  await outbox.add(job)
}

function findOne(waiting: readonly NodeResult[], path: string | undefined): NodeResult | undefined {
  if (path !== undefined) return waiting.find(result => result.path === path)
  if (waiting.length > 1) throw invalid('path', 'is required: several runs of this node wait')
  return waiting[0]
}
