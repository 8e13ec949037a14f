import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '#platform/clock.ts'
import type { Graph } from './graph.ts'
import type { NodeResult, Outcome, Place, Plan, Results } from './plan.ts'
import { keyOf, plan } from './plan.ts'

/** Shorter pauses are waited for in place. */
const shortPauseMs = 5_000
const maxResults = 10_000
const maxBytes = 64 * 1024 * 1024
const tooMuch = `An execution has at most ${maxResults} results of nodes, with ${maxBytes} bytes.`

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

async function runNodes(segment: Segment): Promise<Outcome | 'waiting'> {
  const { graph, results, clock, signal, runNode } = segment
  const running = new Map<string, Promise<NodeResult>>()
  const endedScopes = new Map<string, Outcome>()
  const journal = createJournal(segment)
  for (;;) {
    signal.throwIfAborted()
    const next = plan(graph, results, endedScopes)
    const now = clock.now()
    for (const end of next.loops) journal.note(loopResult(end, results, now))
    if (next.loops.length > 0) continue
    const begun = beginnings(next, results, running, now)
    for (const { result } of begun) journal.note(result)
    await journal.record()
    if (next.end !== undefined) return next.end
    if (journal.isFull()) return { failed: '', error: tooMuch }
    for (const one of begun) running.set(keyOf(one.place.node.id, one.place.path), runNode(one, signal))
    const nextDue = Math.min(...next.waiting.map(place => dueAt(place, results)).filter(time => time > now))
    if (running.size === 0 && nextDue - now >= shortPauseMs) return 'waiting'
    const ended = await firstOf(running, Math.max(0, nextDue - now), signal)
    if (ended === undefined) continue
    running.delete(keyOf(ended.node_id, ended.path))
    journal.note(ended)
  }
}

/** What is to be recorded: the end of a node together with the beginning of those that follow. */
function createJournal({ results, record }: Segment) {
  const unrecorded = new Map<string, NodeResult>()
  let bytes = results.values().reduce((sum, { output }) => sum + (output?.length ?? 0), 0)
  return {
    note(result: NodeResult): void {
      const key = keyOf(result.node_id, result.path)
      results.set(key, result)
      unrecorded.set(key, result)
      bytes += result.output?.length ?? 0
    },
    async record(): Promise<void> {
      if (unrecorded.size > 0 && !(await record([...unrecorded.values()]))) throw new Overtaken()
      unrecorded.clear()
    },
    isFull: () => results.size > maxResults || bytes > maxBytes,
  }
}

/** What begins now: what is ready or due, and what another process left running. */
function beginnings(next: Plan, results: Results, running: ReadonlyMap<string, unknown>, now: number) {
  const interrupted = next.running.filter(({ node, path }) => !running.has(keyOf(node.id, path)))
  const due = next.waiting.filter(place => dueAt(place, results) <= now)
  return [
    ...interrupted.map(place => ({ ...begin(place, results, now), isInterrupted: true })),
    ...[...due, ...next.ready].map(place => begin(place, results, now)),
  ]
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
function begin(place: Place, results: Results, now: number): BegunNode {
  const { node, path } = place
  const before = results.get(keyOf(node.id, path))
  const result: NodeResult = {
    ...(before ?? empty),
    node_id: node.id,
    path,
    status: 'running',
    attempts: (before?.attempts ?? 0) + 1,
    started_at: before?.started_at ?? new Date(now).toISOString(),
  }
  return { place, result, isInterrupted: false }
}

const empty = { handle: null, output: null, error: null, warnings: null, due_at: null, duration_ms: 0 }

function loopResult(
  { node, path, outcome }: Plan['loops'][number],
  results: Results,
  now: number,
): NodeResult {
  const before = results.get(keyOf(node.id, path))
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
