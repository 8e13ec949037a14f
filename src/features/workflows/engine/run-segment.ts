import type { Clock } from '#platform/clock.ts'
import { turn } from '#platform/event-loop/turns.ts'
import { hasEnded } from '../execution-status.ts'
import type { Graph } from './graph.ts'
import {
  awaitsPerson,
  createPlanner,
  keyOf,
  type NodeResult,
  type Outcome,
  type Place,
  type Plan,
  type Results,
  sizeOf,
} from './plan.ts'

/** Shorter pauses wait within the process. */
const shortPauseMs = 5_000
/** Interval between reads of decisions while other nodes run. */
const decisionsMs = 2_000
/** Max delay of timers. */
const maxPauseMs = 2 ** 31 - 1
const maxResults = 10_000
const maxBytes = 64 * 1024 * 1024
const tooMuch = `An execution has at most ${maxResults} results of nodes, with ${maxBytes} bytes.`

/**
 * Limits of unrecorded results, which are recorded only when the next node with an effect begins: mostly few
 * enough for one statement, and so recent that little is lost in a crash.
 */
const maxUnrecorded = { results: 100, bytes: 256 * 1024, ms: 100 }

/** The end of an execution, with the results to record in the transaction of that end. */
export type Ended = Outcome & { unrecorded: readonly NodeResult[] }

/** The execution waits for the first of these nodes; each is `keyOf` its node and path. */
export interface Pause {
  waitsFor: readonly string[]
}

/** Another process has taken over or ended the execution: this run's results no longer count. */
export class Overtaken extends Error {}

export interface BegunNode {
  place: Place
  result: NodeResult
  /** True if the process that ran the node before has died. */
  isInterrupted: boolean
}

interface Segment {
  graph: Graph
  /** Results of earlier segments; grows. */
  results: Map<string, NodeResult>
  /** Returns true for a node without an effect, which can therefore run again until it is recorded. */
  onlyComputes(place: Place): boolean
  /** Returns the result that a node ends, fails or waits with; throws only when aborted. */
  runNode(begun: BegunNode, signal: AbortSignal): Promise<NodeResult>
  /** Stores results in this order; false if another process has taken over. */
  record(results: readonly NodeResult[]): Promise<boolean>
  /** Reads the stored nodes that wait: a person might have decided meanwhile. */
  readWaiting(): Promise<NodeResult[]>
  clock: Clock
  signal: AbortSignal
}

/** Runs an execution until its end, or until nothing can run before a later time. */
export async function runSegment(segment: Segment): Promise<Ended | Pause> {
  const stopping = new AbortController()
  const signal = AbortSignal.any([segment.signal, stopping.signal])
  const planner = createPlanner(segment.graph, segment.results)
  const journal = createJournal(segment, planner.changed)
  try {
    return await runNodes({ ...segment, signal }, planner, journal)
  } catch (error) {
    // Recorded so that a node that has ended does not run again; the first error is the one to report.
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

/** Runs the ready nodes that have no effect, unless results must be recorded first; false if none has run. */
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

/** Reads decisions if a node waits for a person; returns the time to the next read (ms). */
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
 * Collects results to record. A node's end precedes the beginnings of the nodes that follow it, so that the
 * execution can continue from any prefix.
 */
function createJournal({ results, record }: Segment, changed: (result: NodeResult) => void) {
  const unrecorded = new Map<string, NodeResult>()
  let since = 0
  let bytes = results.values().reduce((sum, result) => sum + sizeOf(result), 0)
  let count = results.values().reduce((most, { began, ended }) => Math.max(most, began ?? 0, ended ?? 0), 0)
  return {
    /** Returns the result with its number in the order of beginnings and ends. */
    note(givenResult: NodeResult, now: number): NodeResult {
      const result = { ...givenResult, began: givenResult.began ?? ++count }
      if (hasEnded(givenResult))
        Object.assign(result, { ended: ++count, completed_at: new Date(now).toISOString() })
      const key = keyOf(result.node_id, result.path)
      bytes += sizeOf(result) - sizeOf(results.get(key))
      results.set(key, result)
      if (unrecorded.size === 0) since = performance.now()
      // Deleted first, so that the result comes after those that it follows.
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
    /** True if results must be recorded first. A loop's items must be the same after a crash. */
    isDue(): boolean {
      const rows = [...unrecorded.values()]
      return (
        rows.length >= maxUnrecorded.results ||
        (rows.length > 0 && performance.now() - since >= maxUnrecorded.ms) ||
        rows.some(({ status }) => status === 'looping') ||
        rows.reduce((sum, row) => sum + sizeOf(row), 0) > maxUnrecorded.bytes
      )
    },
    /** @param ahead number of results known to follow. */
    isFull: (ahead: number) => results.size + ahead > maxResults || bytes > maxBytes,
  }
}

/** Returns the nodes to begin: ready ones, due ones, and those that another process left running. */
function beginnings(next: Plan, results: Results, running: ReadonlySet<string>, now: number) {
  const interrupted = next.running.filter(place => !running.has(keyAt(place)))
  const due = next.waiting.filter(place => dueAt(place, results) <= now)
  return [
    ...interrupted.map(place => ({ ...begin(place, results, now), isInterrupted: true })),
    ...[...due, ...next.ready].map(place => begin(place, results, now)),
  ]
}

/** Collects the results of nodes that run. */
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

    /** Waits for an end, and returns the nodes ended since the last call; none after the pause. */
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

/** Returns the result of a place that has begun. */
function resultAt(place: Place, results: Results): NodeResult {
  const result = results.get(keyAt(place))
  if (result === undefined) throw new Error(`the node ${place.node.id} has not begun`)
  return result
}

function dueAt(place: Place, results: Results): number {
  return Date.parse(resultAt(place, results).due_at ?? '')
}

/** A node that has waited keeps the reason of its wait, in case it is interrupted now. */
function begin(place: Place, results: Results, now: number): BegunNode {
  const started_at = new Date(now).toISOString()
  const fresh = { ...emptyResult, node_id: place.node.id, path: place.path, started_at }
  const before = results.get(keyAt(place)) ?? fresh
  const result = { ...before, status: 'running' as const, attempts: before.attempts + 1 }
  return { place, result, isInterrupted: false }
}

/** The fields of a node that has not begun. */
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
/** Max characters of an error; lists of executions repeat it. */
const maxErrorLength = 2_000

/** Returns a complete result with this JSON output, or a failure if it is too long. */
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
