import { expect, it } from 'vitest'
import type { Execution, NodeResult } from './requests.ts'
import { iterationsOf, questionOf, resultsAt, stateOf, timelineOf } from './timeline.ts'

const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString()
const zero = Date.UTC(2026, 0, 1)

function resultOf(
  node_id: string,
  from: number,
  to: number | null,
  others: Partial<NodeResult> = {},
): NodeResult {
  return {
    node_id,
    path: '',
    status: to === null ? 'running' : 'complete',
    started_at: at(from),
    completed_at: to === null ? null : at(to),
    duration_ms: (to ?? from) - from,
    attempts: 1,
    input: {},
    output: { of: node_id },
    error: null,
    warnings: [],
    ...others,
  }
}

const runOf = (node_results: NodeResult[], end: number | null) =>
  ({ node_results, completed_at: end === null ? null : at(end) }) as Execution

const run = runOf([resultOf('a', 0, 4), resultOf('b', 4, 104), resultOf('c', 104, 360_000_104)], 360_000_104)
const timeline = timelineOf(run, 0)
const statesAt = (ms: number) =>
  ['a', 'b', 'c'].map(id => {
    const own = resultsAt(timeline, zero + ms).filter(({ node_id }) => node_id === id)
    return stateOf(own, false)
  })

it('a time is where it is drawn, and back', () => {
  for (const ms of [0, 1, 4, 50, 104, 1000, 360_000_104])
    expect(timeline.timeAt(timeline.positionOf(zero + ms))).toBeCloseTo(zero + ms, 3)
  expect([timeline.positionOf(zero), timeline.positionOf(zero + 360_000_104)]).toEqual([0, 1])
})

it('steps of milliseconds stay visible beside long waits', () => {
  expect(timeline.positionOf(zero + 104)).toBeGreaterThan(0.0005)
  expect(timeline.moments.map(moment => moment - zero)).toEqual([0, 4, 104, 360_000_104])
})

it.each([
  [0, ['running', 'later', 'later']],
  [4, ['complete', 'running', 'later']],
  [103, ['complete', 'running', 'later']],
  [104, ['complete', 'complete', 'running']],
  [360_000_104, ['complete', 'complete', 'complete']],
])('after %d ms the steps are %j', (ms, states) => expect(statesAt(ms)).toEqual(states))

it('a step that runs shows no output yet', () => {
  expect(resultsAt(timeline, zero + 50).at(-1)).toMatchObject({
    node_id: 'b',
    output: null,
    status: 'running',
  })
  expect(resultsAt(timeline, zero + 104)[1]).toMatchObject({ node_id: 'b', output: { of: 'b' } })
})

it('a run that goes on ends now, and an empty one has no length', () => {
  const open = timelineOf(runOf([resultOf('a', 0, null)], null), zero + 500)
  expect([open.start, open.end]).toEqual([zero, zero + 500])
  const empty = timelineOf(runOf([], null), 7)
  expect([empty.start, empty.end, empty.timeAt(0), empty.timeAt(1), empty.positionOf(7)]).toEqual([
    7, 7, 7, 7, 0,
  ])
})

it('ten thousand results are placed within a moment', () => {
  const many = Array.from({ length: 10_000 }, (_, item) =>
    resultOf('n', item * 3, item * 3 + 2, { path: String(item) }),
  )
  const long = timelineOf(runOf(many, 30_000), 0)
  const places = long.results.map(({ begin }) => long.positionOf(begin))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
})

it.each([
  [['complete', 'errored'], 'errored'],
  [['complete', 'running', 'errored'], 'running'],
  [['running', 'waiting'], 'waiting'],
  [['complete', 'terminated'], 'terminated'],
] as const)('iterations that are %j make a step that is %s', (statuses, state) => {
  const results = statuses.map(status => ({ ...resultOf('n', 0, 1, { status }), begin: 0, end: 1 }))
  expect(stateOf(results, true)).toBe(state)
})

it('failed iterations stand first, then the items in their order', () => {
  const paths = ['10', '2', '1.3', '1.20', '0']
  const results = paths.map(path => ({
    ...resultOf('n', 0, 1, { path, status: path === '2' ? 'errored' : 'complete' }),
    begin: 0,
    end: 1,
  }))
  expect(iterationsOf(results).map(({ path }) => path)).toEqual(['2', '0', '1.3', '1.20', '10'])
})

it.each([
  [{ status: 'waiting', output: { approval: 'Send?' } }, 'Send?'],
  [{ status: 'waiting', output: null }, undefined],
  [{ status: 'complete', output: { approval: 'Send?' } }, undefined],
] as const)('%j asks %j', (result, question) => expect(questionOf(result)).toBe(question))
