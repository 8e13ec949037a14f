import type { Clock } from '#platform/clock.ts'
import type { Graph } from './graph.ts'
import type { NodeResult, Outcome, Place, Plan, Results } from './plan.ts'
import { awaitsDecision, keyOf, plan } from './plan.ts'

/** Shorter pauses are waited for in place. */
const shortPauseMs = 5_000
/** How often decisions are looked for while other nodes run. */
const decisionsMs = 2_000
/** Of timers. */
const longestPauseMs = 2 ** 31 - 1
const maxResults = 10_000
const maxBytes = 64 * 1024 * 1024
const tooMuch = `An execution has at most ${maxResults} results of nodes, with ${maxBytes} bytes.`

/** Nothing can run before one of these waiting nodes goes on; each is as `keyOf` its node and path. */
export interface Pause {
  waitsFor: readonly string[]
}

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
  /** The nodes that wait, as they are stored: a person may have decided meanwhile. */
  readWaiting(): Promise<NodeResult[]>
  clock: Clock
  signal: AbortSignal
}

/** Runs an execution until it has ended, or until nothing can run before a later time. */
export async function runSegment(segment: Segment): Promise<Outcome | Pause> {
  const stopping = new AbortController()
  const signal = AbortSignal.any([segment.signal, stopping.signal])
  try {
    return await runNodes({ ...segment, signal })
  } finally {
    stopping.abort()
  }
}

async function runNodes(segment: Segment): Promise<Outcome | Pause> {
  const { graph, results, clock, signal } = segment
  const running = new Map<string, Promise<NodeResult>>()
  const endedScopes = new Map<string, Outcome>()
  const journal = createJournal(segment)
  for (;;) {
    signal.throwIfAborted()
    const next = plan(graph, results, endedScopes)
    const now = clock.now()
    for (const end of next.loops) journal.note(loopResult(end, results, now))
    if (next.loops.length > 0) continue
    const decisions = await lookForDecisions(segment, next)
    const begun = beginnings(next, results, running, now)
    for (const { result } of begun) journal.note(result)
    await journal.record()
    if (next.end !== undefined) return next.end
    if (journal.isFull()) return { failed: '', error: tooMuch }
    for (const one of begun) running.set(keyAt(one.place), segment.runNode(one, signal))
    const pause = Math.min(...next.waiting.map(place => dueAt(place, results)).filter(due => due > now)) - now
    if (running.size === 0 && pause >= shortPauseMs) return { waitsFor: next.waiting.map(keyAt) }
    const ended = await firstOf(running, Math.min(pause, decisions), signal)
    if (ended === undefined) continue
    running.delete(keyOf(ended.node_id, ended.path))
    journal.note(ended)
  }
}

/** Reads what people have decided meanwhile; gives when to look again, in milliseconds. */
async function lookForDecisions({ results, readWaiting }: Segment, { waiting }: Plan): Promise<number> {
  if (!waiting.some(place => awaitsDecision(resultAt(place, results)))) return longestPauseMs
  for (const row of await readWaiting()) results.set(keyOf(row.node_id, row.path), row)
  return decisionsMs
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
  const interrupted = next.running.filter(place => !running.has(keyAt(place)))
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
): Promise<NodeResult | undefined> {
  const { promise: over, resolve, reject } = Promise.withResolvers<undefined>()
  const abort = () => reject(signal.reason)
  const timer = setTimeout(resolve, Math.min(pause, longestPauseMs), undefined)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([...running.values(), over])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}

function keyAt({ node, path }: Place): string {
  return keyOf(node.id, path)
}

/** Of a place that has begun. */
function resultAt(place: Place, results: Results): NodeResult {
  const result = results.get(keyAt(place))
  if (result === undefined) throw new Error(`the node ${place.node.id} has not begun`)
  return result
}

function dueAt(place: Place, results: Results): number {
  return Date.parse(resultAt(place, results).due_at ?? '')
}

/** A node that has waited keeps what it has waited for, in case that it is interrupted now. */
function begin(place: Place, results: Results, now: number): BegunNode {
  const started_at = new Date(now).toISOString()
  const fresh = { ...empty, node_id: place.node.id, path: place.path, started_at }
  const before = results.get(keyAt(place)) ?? fresh
  const result = { ...before, status: 'running' as const, attempts: before.attempts + 1 }
  return { place, result, isInterrupted: false }
}

const empty = {
  attempts: 0,
  handle: null,
  output: null,
  error: null,
  warnings: null,
  due_at: null,
  duration_ms: 0,
}

function loopResult(place: Plan['loops'][number], results: Results, now: number): NodeResult {
  const { outcome } = place
  const before = resultAt(place, results)
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
