import type { Kysely } from 'kysely'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import type { Ids } from '#platform/ids.ts'
import type { NewJob, Outbox } from '#platform/jobs/jobs.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { NodeResult } from './engine/plan.ts'
import type { ExecutionRow, Guard } from './executions.repository.ts'
import {
  changeExecution,
  copyResults,
  countExecutions,
  findByKey,
  insertExecution,
  listActive,
} from './executions.repository.ts'
import type { Cause, WorkflowEvents } from './workflows.events.ts'
import { findWorkflow } from './workflows.repository.ts'
import type { Started } from './workflows.schema.ts'

type Database = Kysely<AgentTables>
type Jobs = Pick<Outbox, 'add' | 'cancel'>

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

export type StartResult = { execution_id: string; status: Started['status'] } | Refused

interface Refused {
  refused: 'busy' | 'inactive' | 'missing' | 'full'
}

interface FreePlace {
  status: 'running' | 'queued'
  version: number
}

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

interface Dependencies {
  clock: Clock
  ids: Ids
}

/** Begins and ends executions, within transactions of the caller. */
export function createLifecycle(needs: Dependencies) {
  return {
    start: (transaction: Database, outbox: Jobs, request: StartRequest) =>
      startExecution(needs, transaction, outbox, request),

    startQueued: (transaction: Database, outbox: Jobs, workflowId: string) =>
      startQueued(needs, transaction, outbox, workflowId),

    /** Ends the execution if it still is as the guard says; undefined if it is not. */
    async end(ending: Ending, guard: Guard, changes: EndChanges): Promise<ExecutionRow | undefined> {
      const { transaction, outbox, agentId } = ending
      const completed_at = timestamp(needs.clock)
      const ended = await changeExecution(transaction, guard, {
        ...changes,
        completed_at,
        waiting_until: null,
      })
      if (ended === undefined) return undefined
      const { status } = changes
      if (status !== 'terminated') await outbox.emit(`workflow.${status}`, eventOf(agentId, ended))
      await startQueued(needs, transaction, outbox, ended.workflow_id)
      return ended
    },

    /** Ends it by hand, whether it runs, waits or is queued. */
    async terminate(ending: Ending, id: string): Promise<ExecutionRow | undefined> {
      const changes = { status: 'terminated', output: null, error: null } as const
      const ended = await this.end(ending, { id, statuses: ['running', 'queued'] }, changes)
      if (ended === undefined) return undefined
      await ending.outbox.cancel(segmentKey(id, ended.segment))
      await ending.outbox.cancel(queueKey(id))
      return ended
    },
  }
}

export type Lifecycle = ReturnType<typeof createLifecycle>

/** The transaction in which an execution ends. */
interface Ending {
  transaction: Database
  outbox: Outbox<WorkflowEvents>
  agentId: string
}

type EndChanges = Pick<ExecutionRow, 'output' | 'error'> & { status: 'complete' | 'errored' | 'terminated' }

async function startExecution(
  { clock, ids }: Dependencies,
  transaction: Database,
  outbox: Jobs,
  request: StartRequest,
): Promise<StartResult> {
  const { key = null } = request
  const same = key === null ? undefined : await findByKey(transaction, key)
  if (same !== undefined) return { execution_id: same.id, status: same.status as Started['status'] }
  const place = await findPlace(transaction, request)
  if ('refused' in place) return place
  const now = clock.now()
  const execution = newExecution(ids.record(), request, place, new Date(now).toISOString())
  await insertExecution(transaction, execution)
  const { id } = execution
  await copyResults(transaction, id, request.results ?? [])
  const runAt = now + queuePatienceMs
  if (place.status === 'running') await outbox.add(segmentJob(execution))
  else await outbox.add({ name: expireJob, key: queueKey(id), payload: { executionId: id }, runAt })
  return { execution_id: id, status: place.status }
}

/** Whether the execution may run at once, or is to wait, and the version that it is of. */
async function findPlace(
  transaction: Database,
  { workflow_id, cause, when_busy, version }: StartRequest,
): Promise<FreePlace | Refused> {
  const workflow = await findWorkflow(transaction, workflow_id)
  if (workflow === undefined) return { refused: 'missing' }
  const isDraftByHand = cause.kind === 'manual' && workflow.status === 'draft'
  if (workflow.status !== 'active' && !isDraftByHand) return { refused: 'inactive' }
  const place = { version: version ?? workflow.version }
  const running = await countExecutions(transaction, workflow_id, 'running')
  if (running < workflow.concurrency) return { ...place, status: 'running' }
  if (when_busy === 'refuse') return { refused: 'busy' }
  const queued = await countExecutions(transaction, workflow_id, 'queued')
  return queued < maxQueued ? { ...place, status: 'queued' } : { refused: 'full' }
}

function newExecution(
  id: string,
  { workflow_id, input, cause, depth = 0, key, options = {} }: StartRequest,
  { status, version }: FreePlace,
  now: string,
): ExecutionRow {
  return {
    id,
    workflow_id,
    version,
    status,
    attempt: 0,
    segment: 0,
    cause: JSON.stringify(cause),
    depth,
    input: JSON.stringify(input),
    output: null,
    error: null,
    options: JSON.stringify(options),
    waiting_until: null,
    idempotency_key: key ?? null,
    created_at: now,
    started_at: status === 'running' ? now : null,
    completed_at: null,
  }
}

/** Gives the places that are free to those that wait for one. */
async function startQueued(
  { clock }: Dependencies,
  transaction: Database,
  outbox: Jobs,
  workflowId: string,
): Promise<void> {
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

function eventOf(agentId: string, { id, workflow_id, depth, cause, output, error }: ExecutionRow) {
  return {
    agentId,
    workflow_id,
    execution_id: id,
    depth,
    cause: JSON.parse(cause) as Cause,
    ...(output !== null && output.length <= maxEventOutput && { output: JSON.parse(output) }),
    ...(error !== null && { error }),
  }
}
