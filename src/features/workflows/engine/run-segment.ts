import type { Clock } from '#platform/clock.ts'
import { turn } from '#platform/event-loop/turns.ts'
import { hasEnded } from '../execution-status.ts'
import type { Graph } from './graph.ts'
import type { NodeResult, Outcome, Place, Plan, Results } from './plan.ts'
import { awaitsPerson, createPlanner, keyOf, sizeOf } from './plan.ts'

/** Shorter pauses are waited for in place. */
const shortPauseMs = 5_000
/** How often decisions are looked for while other nodes run. */
const decisionsMs = 2_000
/** Of timers. */
const maxPauseMs = 2 ** 31 - 1
const maxResults = 10_000
const maxBytes = 64 * 1024 * 1024
const tooMuch = `An execution has at most ${maxResults} results of nodes, with ${maxBytes} bytes.`

/**
 * Results that are recorded only with the next beginning of a node that has an effect: so few that they are one statement as
 * a rule, and computed so recently that little is lost with the process.
 */
const maxUnrecorded = { results: 100, bytes: 256 * 1024, ms: 100 }

/** How an execution ends, with the results to be recorded in the transaction of its end. */
export type Ended = Outcome & { unrecorded: readonly NodeResult[] }

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
  /** Whether a node has no effect, and may therefore run again until it is recorded. */
  onlyComputes(place: Place): boolean
  /** The result that a node ends, fails or waits with; throws only when it is aborted. */
  runNode(begun: BegunNode, signal: AbortSignal): Promise<NodeResult>
  /** Stores them, in this order; false if this process was overtaken. */
  record(results: readonly NodeResult[]): Promise<boolean>
  /** The nodes that wait, as they are stored: a person may have decided meanwhile. */
  readWaiting(): Promise<NodeResult[]>
  clock: Clock
  signal: AbortSignal
}

/** Runs an execution until it has ended, or until nothing can run before a later time. */
export async function runSegment(segment: Segment): Promise<Ended | Pause> {
  const stopping = new AbortController()
  const signal = AbortSignal.any([segment.signal, stopping.signal])
  const planner = createPlanner(segment.graph, segment.results)
  const journal = createJournal(segment, planner.changed)
  try {
    return await runNodes({ ...segment, signal }, planner, journal)
  } catch (error) {
    // A node that has ended must not run again because the process is stopped; the error is the one to report.
    await journal.record().catch(() => {})
    throw error
  } finally {
    stopping.abort()
  }
}

type Journal = ReturnType<typeof createJournal>

async function runNodes(
  segment: Segment,
  planner: ReturnType<typeof createPlanner>,
  journal: Journal,
): Promise<Ended | Pause> {
  const { results, clock, signal } = segment
  const running = new Set<string>()
  const ends = createEnds(signal)
  const lookForDecisions = createLookForDecisions(segment, planner.changed)
  for (;;) {
    await turn()
    signal.throwIfAborted()
    const next = await planner.plan()
    const now = clock.now()
    for (const end of next.loops) journal.note(loopResult(end, results, now), now)
    if (next.loops.length > 0) continue
    const end = await endOf(next, journal)
    if (end !== undefined) return end
    if (await compute(segment, next, journal)) continue
    const decisions = await lookForDecisions(next)
    const begun = beginnings(next, results, running, now).map(one => noteBeginning(one, journal, now))
    await journal.record()
    for (const one of begun) {
      running.add(keyAt(one.place))
      ends.expect(segment.runNode(one, signal))
    }
    const pause = Math.min(...next.waiting.map(place => dueAt(place, results)).filter(due => due > now)) - now
    if (running.size === 0 && pause >= shortPauseMs) return { waitsFor: next.waiting.map(keyAt) }
    for (const ended of await ends.within(Math.min(pause, decisions))) {
      running.delete(keyOf(ended.node_id, ended.path))
      journal.note(ended, clock.now())
    }
  }
}

async function endOf({ end, ahead }: Plan, journal: Journal): Promise<Ended | undefined> {
  const outcome = end ?? (journal.isFull(ahead) ? { failed: '', error: tooMuch } : undefined)
  if (outcome === undefined) return undefined
  if (journal.isDue()) await journal.record()
  return { ...outcome, unrecorded: journal.unrecorded() }
}

/** Runs the ready nodes that have no effect, unless results are to be recorded before; false if none has run. */
async function compute(segment: Segment, { ready }: Plan, journal: Journal): Promise<boolean> {
  const { results, clock, signal, onlyComputes, runNode } = segment
  const now = clock.now()
  const computed = journal.isDue() ? [] : ready.filter(onlyComputes)
  const begun = computed.map(place => noteBeginning(begin(place, results, now), journal, now))
  for (const one of begun) journal.note(await runNode(one, signal), clock.now())
  return begun.length > 0
}

function noteBeginning(begun: BegunNode, journal: Journal, now: number): BegunNode {
  return { ...begun, result: journal.note(begun.result, now) }
}

/** Reads what people have decided meanwhile, if anything waits for them; gives when to look again, in milliseconds. */
function createLookForDecisions({ results, readWaiting }: Segment, changed: (result: NodeResult) => void) {
  let due = 0
  return async ({ waiting }: Plan): Promise<number> => {
    const isLate = performance.now() >= due
    if (isLate && !waiting.some(place => awaitsPerson(resultAt(place, results)))) return maxPauseMs
    if (!isLate) return due - performance.now()
    due = performance.now() + decisionsMs
    for (const row of await readWaiting()) {
      results.set(keyOf(row.node_id, row.path), row)
      changed(row)
    }
    return decisionsMs
  }
}

/**
 * The results to record: the end of a node before the beginning of those that follow, so that any part of it, from its
 * beginning, is a state that the execution may go on from.
 */
function createJournal({ results, record }: Segment, changed: (result: NodeResult) => void) {
  const unrecorded = new Map<string, NodeResult>()
  let since = 0
  let bytes = results.values().reduce((sum, result) => sum + sizeOf(result), 0)
  let count = results.values().reduce((most, { began, ended }) => Math.max(most, began ?? 0, ended ?? 0), 0)
  return {
    /** Returns it with its place in the order of beginnings and ends. */
    note(given: NodeResult, now: number): NodeResult {
      const result = { ...given, began: given.began ?? ++count }
      if (hasEnded(given))
        Object.assign(result, { ended: ++count, completed_at: new Date(now).toISOString() })
      const key = keyOf(result.node_id, result.path)
      bytes += sizeOf(result) - sizeOf(results.get(key))
      results.set(key, result)
      if (unrecorded.size === 0) since = performance.now()
      // Anew, so that it comes after those that it follows.
      unrecorded.delete(key)
      unrecorded.set(key, result)
      changed(result)
      return result
    },
    async record(): Promise<void> {
      if (unrecorded.size > 0 && !(await record([...unrecorded.values()]))) throw new Overtaken()
      unrecorded.clear()
    },
    unrecorded: () => [...unrecorded.values()],
    /** Whether to record before anything is computed. The items of a loop must be the same after a crash. */
    isDue(): boolean {
      const rows = [...unrecorded.values()]
      return (
        rows.length >= maxUnrecorded.results ||
        (rows.length > 0 && performance.now() - since >= maxUnrecorded.ms) ||
        rows.some(({ status }) => status === 'looping') ||
        rows.reduce((sum, row) => sum + sizeOf(row), 0) > maxUnrecorded.bytes
      )
    },
    /** @param ahead how many results are known to follow. */
    isFull: (ahead: number) => results.size + ahead > maxResults || bytes > maxBytes,
  }
}

/** The nodes that begin now: those that are ready or due, and those that another process left running. */
function beginnings(next: Plan, results: Results, running: ReadonlySet<string>, now: number) {
  const interrupted = next.running.filter(place => !running.has(keyAt(place)))
  const due = next.waiting.filter(place => dueAt(place, results) <= now)
  return [
    ...interrupted.map(place => ({ ...begin(place, results, now), isInterrupted: true })),
    ...[...due, ...next.ready].map(place => begin(place, results, now)),
  ]
}

/** Nodes that run, and the results of those that have ended. */
function createEnds(signal: AbortSignal) {
  let ended: NodeResult[] = []
  const failures: unknown[] = []
  let wake = () => {}
  return {
    expect(node: Promise<NodeResult>): void {
      void node
        .then(
          result => ended.push(result),
          error => failures.push(error),
        )
        .then(() => wake())
    },

    /** Those that have ended since, once there is one; none once the pause is over. */
    async within(pause: number): Promise<NodeResult[]> {
      if (ended.length + failures.length === 0 && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, Math.min(pause, maxPauseMs))
        wake = resolve
        signal.addEventListener('abort', wake, { once: true })
        await promise
        clearTimeout(timer)
        signal.removeEventListener('abort', wake)
      }
      signal.throwIfAborted()
      if (failures.length > 0) throw failures[0]
      const taken = ended
      ended = []
      return taken
    },
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
  const fresh = { ...emptyResult, node_id: place.node.id, path: place.path, started_at }
  const before = results.get(keyAt(place)) ?? fresh
  const result = { ...before, status: 'running' as const, attempts: before.attempts + 1 }
  return { place, result, isInterrupted: false }
}

/** Of a node that has not begun. */
export const emptyResult = {
  attempts: 0,
  handle: null,
  output: null,
  error: null,
  warnings: null,
  due_at: null,
  duration_ms: 0,
  began: null,
  ended: null,
  completed_at: null,
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
/** Characters of an error, which lists of executions repeat. */
const maxErrorLength = 2_000

/** How a node ends with this output, as JSON, unless that is too long. */
export function completion(output: string, handle: string | null = null) {
  const bytes = output.length > maxOutputBytes ? output.length : Buffer.byteLength(output)
  if (bytes > maxOutputBytes)
    return failure(
      'TOO_LARGE',
      `The output has ${bytes} bytes or more; at most ${maxOutputBytes} can be kept.`,
    )
  return { status: 'complete' as const, handle, output, error: null, due_at: null }
}

export function failure(code: string, reason: string) {
  const message = reason.length > maxErrorLength ? `${reason.slice(0, maxErrorLength)}…` : reason
  const output = JSON.stringify({ error: { message, code } })
  return { status: 'errored' as const, handle: null, output, error: message, due_at: null }
}
