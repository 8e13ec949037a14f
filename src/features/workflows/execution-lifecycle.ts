import type { Kysely } from 'kysely'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import type { Ids } from '#platform/ids.ts'
import type { NewJob, Outbox } from '#platform/jobs/jobs.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { NodeResult } from './engine/plan.ts'
import type { ExecutionRow } from './executions.repository.ts'
import {
  changeExecution,
  copyResults,
  countExecutions,
  findByKey,
  insertExecution,
  listActive,
} from './executions.repository.ts'
import type { WorkflowEvents } from './workflows.events.ts'
import { findWorkflow } from './workflows.repository.ts'
import type { Started } from './workflows.schema.ts'

type Database = Kysely<AgentTables>
type Jobs = Pick<Outbox, 'add' | 'cancel'>

/** What started an execution. */
export interface Cause {
  kind: 'manual' | 'event' | 'schedule' | 'calendar' | 'webhook' | 'tool'
  ref?: string
}

export interface StartRequest {
  workflow_id: string
  input: Record<string, unknown>
  cause: Cause
  /** Executions that caused one another before this one; 0 unless given. */
  depth?: number
  /** Whether it waits for a place where none is free. */
  when_busy: 'refuse' | 'queue'
  /** There is one execution for each key at most. */
  key?: string | undefined
  options?: ExecutionOptions
  /** The current one unless given. */
  version?: number
  /** Of nodes that need not run again. */
  results?: readonly NodeResult[]
}

export interface ExecutionOptions {
  pinned?: Record<string, unknown>
  stop_after?: string
  /** Tells whether two requests with the same key are the same. */
  request?: string
}

export type StartResult =
  | { execution_id: string; status: Started['status'] }
  | { refused: 'busy' | 'inactive' | 'missing' | 'full' }

export const runJob = 'execution.run'
export const expireJob = 'execution.expire'
const queuePatienceMs = 24 * 3_600_000
const maxQueued = 1_000
const maxEventOutput = 64 * 1024

export function segmentJob({ id, segment }: Pick<ExecutionRow, 'id' | 'segment'>, runAt?: number): NewJob {
  const job = { name: runJob, key: segmentKey(id, segment), payload: { executionId: id, segment } }
  return runAt === undefined ? job : { ...job, runAt }
}

export function segmentKey(id: string, segment: number): string {
  return `execution:${id}@${segment}`
}

function queueKey(id: string): string {
  return `execution:${id}@queued`
}

const unbegun = {
  attempt: 0,
  segment: 0,
  output: null,
  error: null,
  waiting_until: null,
  completed_at: null,
}

/** Begins and ends executions, within transactions of the caller. */
export function createLifecycle({ clock, ids }: { clock: Clock; ids: Ids }) {
  async function start(transaction: Database, outbox: Jobs, request: StartRequest): Promise<StartResult> {
    const {
      workflow_id,
      input,
      cause,
      depth = 0,
      when_busy,
      key = null,
      options = {},
      results = [],
    } = request
    const same = key === null ? undefined : await findByKey(transaction, key)
    if (same !== undefined) return { execution_id: same.id, status: same.status as Started['status'] }
    const workflow = await findWorkflow(transaction, workflow_id)
    if (workflow === undefined) return { refused: 'missing' }
    const isStartable =
      workflow.status === 'active' || (cause.kind === 'manual' && workflow.status === 'draft')
    if (!isStartable) return { refused: 'inactive' }
    const isFree = (await countExecutions(transaction, workflow_id, 'running')) < workflow.concurrency
    if (!isFree && when_busy === 'refuse') return { refused: 'busy' }
    if (!isFree && (await countExecutions(transaction, workflow_id, 'queued')) >= maxQueued)
      return { refused: 'full' }
    const status = isFree ? 'running' : 'queued'
    const now = timestamp(clock)
    const execution = {
      ...unbegun,
      id: ids.record(),
      workflow_id,
      version: request.version ?? workflow.version,
      status,
      depth,
      cause: JSON.stringify(cause),
      options: JSON.stringify(options),
      input: JSON.stringify(input),
      idempotency_key: key,
      created_at: now,
      started_at: isFree ? now : null,
    }
    await insertExecution(transaction, execution)
    await copyResults(transaction, execution.id, results)
    const { id } = execution
    const runAt = clock.now() + queuePatienceMs
    if (isFree) await outbox.add(segmentJob(execution))
    else await outbox.add({ name: expireJob, key: queueKey(id), payload: { executionId: id }, runAt })
    return { execution_id: id, status }
  }

  /** Gives the places that are free to those that wait for one. */
  async function startQueued(transaction: Database, outbox: Jobs, workflowId: string): Promise<void> {
    const queued = await listActive(transaction, workflowId, ['queued'], maxQueued)
    if (queued.length === 0) return
    const workflow = await findWorkflow(transaction, workflowId)
    if (workflow?.status !== 'active') return
    const free = workflow.concurrency - (await countExecutions(transaction, workflowId, 'running'))
    for (const { id } of queued.slice(0, Math.max(0, free))) {
      const begun = { status: 'running', started_at: timestamp(clock) }
      await changeExecution(transaction, { id, statuses: ['queued'] }, begun)
      await outbox.cancel(queueKey(id))
      await outbox.add(segmentJob({ id, segment: 0 }))
    }
  }

  return {
    start,
    startQueued,

    /** Ends the execution if it still is as the guard says; undefined if it is not. */
    async end(
      transaction: Database,
      outbox: Outbox<WorkflowEvents>,
      agentId: string,
      guard: Parameters<typeof changeExecution>[1],
      changes: Pick<ExecutionRow, 'output' | 'error'> & { status: 'complete' | 'errored' | 'terminated' },
    ): Promise<ExecutionRow | undefined> {
      const completed_at = timestamp(clock)
      const ended = await changeExecution(transaction, guard, {
        ...changes,
        completed_at,
        waiting_until: null,
      })
      if (ended === undefined) return undefined
      const { status, error, output } = changes
      const isShort = output !== null && output.length <= maxEventOutput
      if (status !== 'terminated')
        await outbox.emit(`workflow.${status}`, {
          agentId,
          workflow_id: ended.workflow_id,
          execution_id: ended.id,
          depth: ended.depth,
          cause: JSON.parse(ended.cause),
          ...(isShort && { output: JSON.parse(output) }),
          ...(error !== null && { error }),
        })
      await startQueued(transaction, outbox, ended.workflow_id)
      return ended
    },

    /** Ends it by hand, whether it runs, waits or is queued. */
    async terminate(transaction: Database, outbox: Outbox<WorkflowEvents>, agentId: string, id: string) {
      const guard = { id, statuses: ['running', 'queued'] }
      const changes = { status: 'terminated' as const, output: null, error: null }
      const ended = await this.end(transaction, outbox, agentId, guard, changes)
      if (ended === undefined) return undefined
      await outbox.cancel(segmentKey(id, ended.segment))
      await outbox.cancel(queueKey(id))
      return ended
    },
  }
}

export type Lifecycle = ReturnType<typeof createLifecycle>
