import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '#platform/clock.ts'
import type { Graph } from './graph.ts'
import type { NodeResult, Outcome, Place, Results } from './plan.ts'
import { keyOf, plan } from './plan.ts'

/** Shorter pauses are waited for in place. */
const shortPauseMs = 5_000
const maxResults = 10_000
const maxBytes = 64 * 1024 * 1024

/** A node was begun by another process meanwhile, or the execution was ended: what runs here no longer counts. */
export class Overtaken extends Error {}

export interface BegunNode {
  place: Place
  result: NodeResult
  /** Whether the process died that ran it before. */
  isInterrupted: boolean
}

interface Segment {
  graph: Graph
  /** Of earlier segments; grows. */
  results: Map<string, NodeResult>
  /** The result that a node ends, fails or waits with; throws only when it is aborted. */
  runNode(begun: BegunNode, signal: AbortSignal): Promise<NodeResult>
  /** Stores them together; false if this process was overtaken. */
  record(results: readonly NodeResult[]): Promise<boolean>
  clock: Clock
  signal: AbortSignal
}

/** Runs an execution until it has ended, or until nothing can run before a later time. */
export async function runSegment(segment: Segment): Promise<Outcome | 'waiting'> {
  const stopping = new AbortController()
  const signal = AbortSignal.any([segment.signal, stopping.signal])
  try {
    return await runNodes({ ...segment, signal })
  } finally {
    stopping.abort()
  }
}

async function runNodes({
  graph,
  results,
  clock,
  signal,
  record,
  runNode,
}: Segment): Promise<Outcome | 'waiting'> {
  const running = new Map<string, Promise<NodeResult>>()
  const endedScopes = new Map<string, Outcome>()
  const unrecorded = new Map<string, NodeResult>()
  let bytes = results.values().reduce((sum, { output }) => sum + (output?.length ?? 0), 0)
  const note = (result: NodeResult) => {
    const key = keyOf(result.node_id, result.path)
    results.set(key, result)
    unrecorded.set(key, result)
    bytes += result.output?.length ?? 0
  }
  for (;;) {
    signal.throwIfAborted()
    const next = plan(graph, results, endedScopes)
    const now = clock.now()
    for (const { node, path, outcome } of next.loops)
      note(loopResult(results.get(keyOf(node.id, path)), outcome, now))
    if (next.loops.length > 0) continue
    const due = next.waiting.filter(place => dueAt(place, results) <= now)
    const interrupted = next.running.filter(({ node, path }) => !running.has(keyOf(node.id, path)))
    const starting = [...interrupted, ...due, ...next.ready]
    const begun = starting.map(place => ({
      place,
      result: begin(place, results, now),
      isInterrupted: interrupted.includes(place),
    }))
    for (const { result } of begun) note(result)
    if (unrecorded.size > 0 && !(await record([...unrecorded.values()]))) throw new Overtaken()
    unrecorded.clear()
    if (next.end !== undefined) return next.end
    if (results.size > maxResults)
      return { failed: '', error: `It has more than ${maxResults} results of nodes.` }
    if (bytes > maxBytes)
      return { failed: '', error: `The outputs of its nodes have more than ${maxBytes} bytes.` }
    for (const one of begun) running.set(keyOf(one.place.node.id, one.place.path), runNode(one, signal))
    const nextDue = Math.min(
      ...next.waiting.filter(place => !due.includes(place)).map(place => dueAt(place, results)),
    )
    if (running.size === 0 && nextDue - now >= shortPauseMs) return 'waiting'
    const ended = await firstOf(running, Math.max(0, nextDue - now), signal)
    if (ended === undefined) continue
    running.delete(keyOf(ended.node_id, ended.path))
    note(ended)
  }
}

/** Undefined once the pause is over. */
async function firstOf(
  running: ReadonlyMap<string, Promise<NodeResult>>,
  pause: number,
  signal: AbortSignal,
) {
  const over = new AbortController()
  const longest = 2 ** 31 - 1
  const either = AbortSignal.any([signal, over.signal])
  const pausing = delay(Math.min(pause, longest), undefined, { signal: either })
  try {
    return await Promise.race([...running.values(), pausing])
  } finally {
    over.abort()
    pausing.catch(() => {})
  }
}

function dueAt({ node, path }: Place, results: Results): number {
  return Date.parse(results.get(keyOf(node.id, path))?.due_at ?? '')
}

/** A node that has waited keeps what it has waited for, in case that it is interrupted now. */
function begin({ node, path }: Place, results: Results, now: number): NodeResult {
  const before = results.get(keyOf(node.id, path))
  return {
    ...(before ?? empty),
    node_id: node.id,
    path,
    status: 'running',
    attempts: (before?.attempts ?? 0) + 1,
    started_at: before?.started_at ?? new Date(now).toISOString(),
  }
}

const empty = { handle: null, output: null, error: null, warnings: null, due_at: null, duration_ms: 0 }

function loopResult(before: NodeResult | undefined, outcome: Outcome, now: number): NodeResult {
  if (before === undefined) throw new Error('a loop without a result has ended')
  const duration_ms = Math.max(0, now - Date.parse(before.started_at))
  return 'failed' in outcome
    ? { ...before, duration_ms, ...failure('ITEM_FAILED', `An item failed: ${outcome.error}`) }
    : { ...before, duration_ms, ...completion(outcome.output, 'done') }
}

const maxOutputBytes = 1024 * 1024

/** How a node ends with this output, as JSON, unless that is too long. */
export function completion(output: string, handle: string | null = null) {
  const bytes = Buffer.byteLength(output)
  if (bytes > maxOutputBytes)
    return failure('TOO_LARGE', `The output has ${bytes} bytes; at most ${maxOutputBytes} can be kept.`)
  return { status: 'complete' as const, handle, output, error: null, due_at: null }
}

export function failure(code: string, message: string) {
  const output = JSON.stringify({ error: { message, code } })
  return { status: 'errored' as const, handle: null, output, error: message, due_at: null }
}
