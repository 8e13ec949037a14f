import type { Tone } from '#console/ui/status.tsx'
import type { Execution, NodeResult } from './requests.ts'

/** The state of a step at a time: that of its result, else `later`, or `skipped` if the run has ended. */
export type StepState = NodeResult['status'] | 'later' | 'skipped'

/** A result of a node with its times in milliseconds; without an end, infinity. */
export interface TimedResult extends NodeResult {
  begin: number
  end: number
}

export interface Timeline {
  results: readonly TimedResult[]
  /** Milliseconds since 1970. */
  start: number
  end: number
  /** Times of the starts and ends of results, ascending. */
  moments: readonly number[]
  /** Returns the drawn position of a time, from 0 to 1. */
  positionOf(time: number): number
  timeAt(position: number): number
}

/** Returns a run's timeline. Lengths are square roots of times: milliseconds stay visible beside days. */
export function timelineOf({ node_results, completed_at }: Execution, now: number): Timeline {
  const closed = completed_at === null ? Number.POSITIVE_INFINITY : Date.parse(completed_at)
  const results = node_results.map(result => {
    const end = result.completed_at === null ? closed : Date.parse(result.completed_at)
    return { ...result, begin: Date.parse(result.started_at), end }
  })
  const times = results.flatMap(({ begin, end }) => [begin, end])
  const last = completed_at === null ? Math.max(now, ...finite(times)) : closed
  const moments = [...new Set([...finite(times), last])].filter(time => time <= last).sort((a, b) => a - b)
  const start = moments[0] ?? last
  const drawn = [0]
  for (let at = 1; at < moments.length; at += 1)
    drawn.push((drawn[at - 1] ?? 0) + Math.sqrt((moments[at] ?? 0) - (moments[at - 1] ?? 0)))
  const whole = drawn.at(-1) || 1
  return {
    results,
    start,
    end: last,
    moments,
    positionOf: time => between(time, moments, drawn) / whole,
    timeAt: position => (position >= 1 ? last : between(position * whole, drawn, moments)),
  }
}

const finite = (times: readonly number[]) => times.filter(Number.isFinite)

/** Interpolates in `to` at the place of `value` in `from`, which ascends. */
function between(value: number, from: readonly number[], to: readonly number[]): number {
  let after = from.length
  for (let low = 0; low < after; ) {
    const middle = (low + after) >> 1
    if ((from[middle] ?? 0) > value) after = middle
    else low = middle + 1
  }
  if (after === from.length) return to.at(-1) ?? 0
  if (after === 0) return to[0] ?? 0
  const [low = 0, high = 1] = [from[after - 1], from[after]]
  const [start = 0, end = 0] = [to[after - 1], to[after]]
  return start + ((value - low) / (high - low)) * (end - start)
}

/** Returns the results at a time: later ones are missing, and running ones have no output yet. */
export function resultsAt({ results, end: last }: Timeline, time: number): TimedResult[] {
  if (time >= last) return [...results]
  return results
    .filter(({ begin }) => begin <= time)
    .map(result =>
      result.end > time && result.status !== 'waiting'
        ? { ...result, status: 'running', output: null, error: null, warnings: [] }
        : result,
    )
}

const order = ['waiting', 'running', 'errored', 'terminated', 'complete'] as const

/** Returns the state of a step from its results; in loops, the most important one for a person. */
export function stateOf(results: readonly TimedResult[], isOver: boolean): StepState {
  const found = order.find(status => results.some(result => result.status === status))
  return found ?? (isOver ? 'skipped' : 'later')
}

/** Sorts failed results first, then in the order of the items. */
export function iterationsOf(results: readonly TimedResult[]): TimedResult[] {
  const numbers = ({ path }: NodeResult) => path.split('.').map(Number)
  return results.toSorted((one, other) => {
    const byState = order.indexOf(one.status) - order.indexOf(other.status)
    if (byState !== 0) return byState
    const [a, b] = [numbers(one), numbers(other)]
    const at = a.findIndex((number, index) => number !== b[index])
    return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0)
  })
}

export const tones: Record<StepState, Tone> = {
  later: 'plain',
  skipped: 'plain',
  running: 'info',
  waiting: 'warn',
  complete: 'good',
  errored: 'bad',
  terminated: 'plain',
}

/** Returns the question of a step that waits for a decision; undefined for other steps. */
export function questionOf({ status, output }: Pick<NodeResult, 'status' | 'output'>): string | undefined {
  const { approval } = (output ?? {}) as { approval?: unknown }
  return status === 'waiting' && typeof approval === 'string' ? approval : undefined
}
