import { type Clock, timestamp } from '#platform/clock.ts'
import { parseJson } from '#platform/exact-json.ts'
import type { Ids } from '#platform/ids.ts'
import type { NewJob, Outbox } from '#platform/jobs/jobs.ts'
import type { AgentDatabase as Database } from '#storage/tables.ts'
import type { NodeResult } from '../engine/plan.ts'
import { type EndStatus, openStatuses } from '../execution-status.ts'
import {
  changeExecutions,
  countExecutions,
  type ExecutionRow,
  findByKey,
  type Guard,
  insertExecution,
  listQueued,
  toStarted,
} from '../rows/executions.repository.ts'
import { insertResults } from '../rows/node-results.repository.ts'
import { findWorkflow } from '../rows/workflows.repository.ts'
import type { Cause, ExecutionEnd, WorkflowEvents } from '../workflows.events.ts'
import type { Started, WorkflowSummary } from '../workflows.schema.ts'

export interface StartRequest {
  workflow_id: string
  input: Record<string, unknown>
  cause: Cause
  /** Number of executions that caused one another before this one; defaults to 0. */
  depth?: number
  /** `queue` waits for a free place; `refuse` does not. */
  when_busy: 'refuse' | 'queue'
  /** At most one execution exists for each key. */
  key?: string | undefined
  /** The name of a job that is added in the transaction of the end, with an `ExecutionEnd` as its payload. */
  end_job?: string
  options?: ExecutionOptions
  /** Defaults to the current version. */
  version?: number
  /** Results of nodes that need not run again. */
  results?: readonly NodeResult[]
}

/** A request to the secret address of a workflow; the body is the input. */
export interface HookRequest {
  method: string
  query: Record<string, unknown>
  /** Headers without credentials. */
  headers: Record<string, unknown>
}

export interface ExecutionOptions {
  /** Outputs of nodes that must not run. */
  pinned?: Record<string, unknown>
  stop_after?: string
  /** The part of the starting request that templates can read. */
  trigger?: HookRequest
  /** The name at the start of the execution. */
  workflow_name?: string
  /** A hash that shows if two requests with the same key are the same. */
  request?: string
}

interface StoredOptions extends ExecutionOptions {
  end_job?: string
}

export type StartResult = Started | Refused
interface Refused {
  refused: 'busy' | 'inactive' | 'missing' | 'full'
}

export const executionJob = 'execution.run'
export const maxDepth = 10
const queueTimeoutMs = 24 * 3_600_000
const maxQueued = 1_000
const maxOutputReported = 64 * 1024

/** The job of an execution, from start to end. For a queued one, it first runs at the queue timeout. */
export function jobOf(id: string, runAt: number) {
  return { name: executionJob, key: `execution:${id}`, payload: { executionId: id }, runAt } satisfies NewJob
}

/** The transaction that ends executions. */
export interface Ending {
  transaction: Database
  outbox: Outbox<WorkflowEvents>
  agentId: string
}

/** Ends turns that wait for people, found by run keys, in the transaction that ends executions. */
export type AbandonTurns = (
  ending: Pick<Ending, 'transaction' | 'outbox'>,
  workflowId: string,
  isOver: (key: string) => boolean,
) => Promise<void>

type EndChanges = { status: EndStatus } & Partial<Pick<ExecutionRow, 'output' | 'error'>>

interface Dependencies {
  /** Called within the transaction for each execution that ends. */
  noteEnd(transaction: object, id: string): void
  abandonTurns: AbandonTurns
  /** Schedules the pruning of executions that need not be kept. */
  pruneSoon(ending: Ending): Promise<void>
  clock: Clock
  ids: Ids
}

/** Starts and ends executions within the caller's transactions. */
export function createLifecycle({ noteEnd, abandonTurns, pruneSoon, clock, ids }: Dependencies) {
  /** The caller must have checked that the agent is active. */
  async function start(
    transaction: Database,
    outbox: Pick<Outbox, 'add'>,
    request: StartRequest,
  ): Promise<StartResult> {
    const same = request.key && (await findByKey(transaction, request.key))
    if (same) return toStarted(same)
    const place = await findPlace(transaction, request)
    if ('refused' in place) return place
    const now = clock.now()
    const execution = newExecution(ids.record(), request, place, new Date(now).toISOString())
    await insertExecution(transaction, execution)
    await insertResults(transaction, execution.id, request.results ?? [])
    await outbox.add(jobOf(execution.id, place.status === 'queued' ? now + queueTimeoutMs : now))
    return toStarted(execution)
  }

  /** Starts queued executions in the free places. */
  async function startQueued(transaction: Database, outbox: Pick<Outbox, 'add' | 'cancel'>, id: string) {
    const isEmpty = (await listQueued(transaction, id, 1)).length === 0
    const workflow = isEmpty ? undefined : await findWorkflow(transaction, id)
    if (workflow?.status !== 'active') return
    const free = workflow.concurrency - (await countRunning(transaction, workflow))
    for (const next of await listQueued(transaction, id, Math.max(0, free))) {
      const changes = { status: 'running', started_at: timestamp(clock) }
      await changeExecutions(transaction, { id: next, statuses: ['queued'] }, changes)
      const job = jobOf(next, clock.now())
      await outbox.cancel(job.key)
      await outbox.add(job)
    }
  }

  /** Ends the executions that match the guard, and returns them. */
  async function end(ending: Ending, guard: Guard, changes: EndChanges): Promise<ExecutionRow[]> {
    const { transaction, outbox, agentId } = ending
    const times = { completed_at: timestamp(clock), waiting_until: null }
    const ended = await changeExecutions(transaction, guard, { ...changes, ...times })
    for (const execution of ended) {
      noteEnd(transaction, execution.id)
      const payload = endOf(execution, changes.status)
      const { end_job } = JSON.parse(execution.options) as StoredOptions
      if (end_job !== undefined) await outbox.add({ name: end_job, payload })
      if (changes.status === 'terminated') await outbox.cancel(jobOf(execution.id, 0).key)
      await outbox.emit(`workflow.${changes.status}`, { agent_id: agentId, ...payload })
    }
    for (const workflow of new Set(ended.map(({ workflow_id }) => workflow_id))) {
      await abandonTurns(ending, workflow, key => ended.some(({ id }) => key.startsWith(`${id}:`)))
      await startQueued(transaction, outbox, workflow)
    }
    if (ended.length > 0) await pruneSoon(ending)
    return ended
  }

  return {
    start,
    startQueued,
    end,

    /** Ends the matching executions that run, wait or are queued. */
    terminate: (ending: Ending, which: { id: string } | { workflow_id: string }): Promise<ExecutionRow[]> =>
      end(ending, { ...which, statuses: openStatuses }, { status: 'terminated' }),
  }
}

export type Lifecycle = ReturnType<typeof createLifecycle>

interface Place {
  status: 'running' | 'queued'
  version: number
  workflow_name: string
}

/** Returns the version to run and its first status, or the reason of a refusal. */
export async function findPlace(transaction: Database, request: StartRequest): Promise<Place | Refused> {
  const { workflow_id, cause, when_busy } = request
  const workflow = await findWorkflow(transaction, workflow_id)
  if (workflow === undefined) return { refused: 'missing' }
  const isDraftByHand = cause.kind === 'manual' && workflow.status === 'draft'
  if (workflow.status !== 'active' && !isDraftByHand) return { refused: 'inactive' }
  const { version = workflow.version } = request
  const chosen = { version, workflow_name: workflow.name }
  const running = await countRunning(transaction, workflow)
  if (running < workflow.concurrency) return { status: 'running', ...chosen }
  if (when_busy === 'refuse') return { refused: 'busy' }
  const queued = await countExecutions(transaction, workflow_id, 'queued')
  return queued < maxQueued ? { status: 'queued', ...chosen } : { refused: 'full' }
}

function countRunning(transaction: Database, { id, concurrency_counts_waiting }: WorkflowSummary) {
  return countExecutions(transaction, id, 'running', concurrency_counts_waiting)
}

function newExecution(
  id: string,
  request: StartRequest,
  { status, version, workflow_name }: Place,
  now: string,
) {
  const { workflow_id, input, cause, depth = 0, key = null, end_job, options } = request
  const stored: StoredOptions = { ...options, workflow_name, ...(end_job !== undefined && { end_job }) }
  return {
    id,
    workflow_id,
    version,
    status,
    attempt: 0,
    cause: JSON.stringify(cause),
    depth,
    input: JSON.stringify(input),
    output: null,
    error: null,
    options: JSON.stringify(stored),
    waiting_until: null,
    idempotency_key: key,
    created_at: now,
    started_at: status === 'running' ? now : null,
    completed_at: null,
    last_wait: null,
  } satisfies ExecutionRow
}

function endOf({ id, workflow_id, depth, cause, output, error }: ExecutionRow, status: EndStatus) {
  return {
    workflow_id,
    execution_id: id,
    status,
    depth,
    cause: parseJson(cause) as Cause,
    ...(output !== null && output.length <= maxOutputReported && { output: parseJson(output) }),
    ...(error !== null && { error }),
  } satisfies ExecutionEnd
}

/** Reasons that nothing was started, for the records of schedules and calendar tasks. */
export const refusalReasons = {
  busy: 'The workflow was still running.',
  inactive: 'The workflow was not active.',
  missing: 'The workflow was deleted.',
  full: 'Too many executions of the workflow were waiting.',
} as const satisfies Record<Refused['refused'], string>

/** Returns the reason that an execution has not completed; null if it has. */
export function failureOf({ status, error = 'It failed.' }: ExecutionEnd): string | null {
  if (status === 'complete') return null
  return status === 'terminated' ? 'The workflow was terminated.' : error
}
