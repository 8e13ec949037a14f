import type { Clock } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import { turn } from '#platform/event-loop/turns.ts'
import { parseJson } from '#platform/exact-json.ts'
import type { Log } from '#platform/logging/log.ts'
import { orAborted } from '#platform/or-aborted.ts'
import { createTemplates, type Templates } from '#platform/templates/resolve-templates.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import {
  type CommonData,
  maxTimeoutSeconds,
  type NodeContext,
  type NodeOutcome,
  type NodeType,
} from '../engine/node-type.ts'
import type { NodeResult, Place } from '../engine/plan.ts'
import { resolveData } from '../engine/resolve-data.ts'
import { type BegunNode, completion, failure } from '../engine/run-segment.ts'
import type { Scope } from '../engine/scope.ts'
import type { NodeTypes } from './node-types.ts'

const defaultTimeoutSeconds = 30
/** Max warnings of a node that are stored; the others are counted. */
const maxWarnings = 50

interface NodeRun extends BegunNode {
  scope: Scope
  secrets: NodeContext<unknown>['secrets']
  types: NodeTypes
  /** Outputs by node, for nodes that must not run. */
  pinned: Readonly<Record<string, unknown>>
  agent: AgentHandle
  execution: NodeContext<unknown>['execution']
  clock: Clock
  signal: AbortSignal
  log: Log
}

/** Identifies a run of a node. */
export const runKey = (executionId: string, nodeId: string, path: string) =>
  [executionId, nodeId, path].join(':')

/** Runs a node once. Failures are returned as results, unless the execution itself is aborted. */
export async function runNode(run: NodeRun): Promise<NodeResult> {
  await turn()
  const { place, result: begun, types, clock, signal } = run
  // A node's duration excludes pauses between attempts, but includes the wait of a node that has waited.
  const hasWaited = begun.due_at !== null && begun.output !== null
  const since = hasWaited ? Date.parse(begun.started_at) : clock.now() - begun.duration_ms
  const data = place.node.data as CommonData
  const templates = createTemplates(run.scope)
  const ended = (changes: Partial<NodeResult>, givenWarnings: readonly string[] = []): NodeResult => ({
    ...begun,
    ...changes,
    warnings: warningsOf([...templates.warnings(), ...givenWarnings]),
    duration_ms: Math.max(0, clock.now() - since),
  })
  const type = types.get(place.node.type)
  if (type === undefined) return ended(failure('VALIDATION_ERROR', 'There is no such type of node any more.'))
  if (Object.hasOwn(run.pinned, place.node.id))
    return ended(pinnedResult(type, place, run.pinned[place.node.id]))
  try {
    const outcome = await perform(type, run, templates)
    if ('output' in outcome)
      return ended(completion(JSON.stringify(outcome.output ?? null), outcome.handle), outcome.warnings)
    if ('items' in outcome) return ended(begunLoop(completion(JSON.stringify(outcome))))
    const output = JSON.stringify({ approval: outcome.forApproval, turn: outcome.isTurn })
    const due_at = new Date(outcome.waitUntil).toISOString()
    // A node that only waits does not count as an attempt.
    return ended({ status: 'waiting', output, due_at, attempts: begun.attempts - 1 })
  } catch (error) {
    signal.throwIfAborted()
    return ended(afterFailure(error, data, run))
  }
}

/** Returns a loop's stored result: `looping`, or the failure if its items are too long. */
function begunLoop(result: ReturnType<typeof completion>): Partial<NodeResult> {
  return result.status === 'complete' ? { ...result, status: 'looping' } : result
}

function warningsOf(warnings: readonly string[]): string | null {
  if (warnings.length === 0) return null
  const others = warnings.length - maxWarnings
  const shown =
    others > 0 ? [...warnings.slice(0, maxWarnings), `${others} more warnings are not shown`] : warnings
  return JSON.stringify(shown)
}

async function perform(type: NodeType, run: NodeRun, templates: Templates): Promise<NodeOutcome> {
  const { place, execution } = run
  if (type.onlyComputes) return await runType(type, run, templates)
  const { timeout_seconds, on_interruption } = place.node.data as CommonData
  if (run.isInterrupted && on_interruption === 'fail')
    throw new AppError('CONFLICT', 'The server was stopped while the node ran; it may have done its work.')
  const seconds = Math.min(timeout_seconds ?? type.timeoutSeconds ?? defaultTimeoutSeconds, maxTimeoutSeconds)
  const timeout = AbortSignal.timeout(seconds * 1000)
  const signal = AbortSignal.any([run.signal, timeout])
  const log = run.log.child({ execution: execution.id, node: place.node.id })
  try {
    return await orAborted(runType(type, { ...run, signal, log }, templates), signal)
  } catch (error) {
    if (!timeout.aborted) throw error
    throw new AppError('TOOL_FAILED', `The node took more than ${seconds} s.`, { isPermanent: false })
  }
}

async function runType(type: NodeType, run: NodeRun, templates: Templates): Promise<NodeOutcome> {
  const { place, result: begun, agent, scope, secrets, execution, clock, signal, log } = run
  const data = (await resolveData(type, place.node.data, templates)) as never
  signal.throwIfAborted()
  return await type.run({
    agent,
    data,
    secrets,
    templates,
    scope,
    execution,
    key: runKey(execution.id, place.node.id, place.path),
    signal,
    log,
    now: clock.now(),
    since: Date.parse(begun.started_at),
    resumed: begun.due_at === null ? undefined : parseJson(begun.output ?? '{}'),
  })
}

/** A pinned output names its exit itself, like the node's own output. */
function pinnedResult(type: NodeType, { node }: Place, output: unknown) {
  const handles = type.handles?.(node.data as never)
  const { handle, result } = Object(output) as { handle?: unknown; result?: unknown }
  const named = handles?.find(one => one === String(handle ?? result)) ?? handles?.[0]
  return completion(JSON.stringify(output ?? null), named)
}

function afterFailure(error: unknown, { retries }: CommonData, run: NodeRun): Partial<NodeResult> {
  const { result: begun, clock, log } = run
  const isKnown = error instanceof AppError
  if (!isKnown) log.error({ err: error, node: begun.node_id }, 'a node failed')
  const message = isKnown ? error.message : 'The node failed for an unknown reason; the log says more.'
  const failed = failure(isKnown ? error.code : 'INTERNAL_ERROR', message)
  const { max = 0, delay_seconds = 1, factor = 2 } = retries ?? {}
  if (begun.attempts > max || (isKnown && error.isPermanent)) return failed
  const requestedSeconds = isKnown ? Number(error.details?.retry_after ?? 0) : 0
  const seconds = Math.max(requestedSeconds, delay_seconds * factor ** (begun.attempts - 1))
  const pause = Math.min(seconds, 86_400) * 1000
  return {
    status: 'waiting',
    output: null,
    error: message,
    due_at: new Date(clock.now() + pause).toISOString(),
  }
}
