import { expect, it, onTestFinished, vi } from 'vitest'
import { edgesOf } from '#test/support/workflows.ts'
import { readGraph } from './graph.ts'
import type { NodeResult } from './plan.ts'
import { completion, runSegment } from './run-segment.ts'

const shown = (rows: readonly NodeResult[]) =>
  rows.map(({ node_id, path, status }) => `${node_id}${path} ${status}`)

/** Runs nodes whose names say what they are; `onRun` is called before each of them ends. */
async function run(edges: string[], onRun: (id: string) => void = () => {}) {
  const ids = [...new Set(edges.flatMap(edge => edge.replaceAll(/\/\w+/g, '').split(' > ')))]
  const typeOf = (id: string) => ({ t: 'trigger', l: 'loop', e: 'http-request' })[id[0] ?? ''] ?? 'if-else'
  const nodes = ids.map(id => ({ id, type: typeOf(id), position: { x: 0, y: 0 }, data: {} }))
  const { graph } = readGraph({ nodes, edges: edgesOf(...edges) })
  const recorded: string[][] = []
  const stopping = new AbortController()
  const outcome = await runSegment({
    graph,
    results: new Map(),
    clock: { now: () => 0 },
    signal: stopping.signal,
    onlyComputes: ({ node }) => node.type !== 'http-request',
    readWaiting: async () => [],
    record: async rows => recorded.push(shown(rows)) > 0,
    async runNode({ place: { node }, result }) {
      onRun(node.id)
      if (node.id === 'stop') stopping.abort(new Error('stopped'))
      const items = JSON.stringify({ items: [1, 2], concurrency: 2, stopsOnError: true })
      return { ...result, ...(node.type === 'loop' ? { status: 'looping', output: items } : completion('1')) }
    },
  }).catch(error => ({ error }))
  const last = 'unrecorded' in outcome ? shown(outcome.unrecorded) : outcome
  return { recorded, last }
}

const cases: Record<string, { edges: string[]; recorded: string[][]; last: string[] }> = {
  'nothing before the end where nothing has an effect': {
    edges: ['t > a', 'a > b'],
    recorded: [],
    last: ['t complete', 'a complete', 'b complete'],
  },
  'what leads to an effect with its beginning, and the rest with the end': {
    edges: ['t > a', 'a > e', 'e > b', 'b > c'],
    recorded: [['t complete', 'a complete', 'e running']],
    last: ['e complete', 'b complete', 'c complete'],
  },
  'all branches before the first effect begins': {
    edges: ['t > e1', 't > a', 'a > b', 'b > e2'],
    recorded: [['t complete', 'a complete', 'b complete', 'e1 running', 'e2 running']],
    last: ['e1 complete', 'e2 complete'],
  },
  'the items of a loop before they begin': {
    edges: ['t > l', 'l/item > a'],
    recorded: [['t complete', 'l looping', 'a0 running', 'a1 running']],
    last: ['a0 complete', 'a1 complete', 'l complete'],
  },
}

it.each(Object.entries(cases))('records %s', async (_name, { edges, recorded, last }) => {
  expect(await run(edges)).toEqual({ recorded, last })
})

it('records what has ended before a stop', async () => {
  const { recorded, last } = await run(['t > e', 'e > stop', 'stop > a'])
  expect(recorded).toEqual([
    ['t complete', 'e running'],
    ['e complete', 'stop complete'],
  ])
  expect(last).toMatchObject({ error: { message: 'stopped' } })
})

it('records what has ended once it was 0.1 s ago, and no later than with 100 others', async () => {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  const slow = await run(['t > e', 'e > a', 'a > b', 'b > c'], id => {
    now += id === 'a' ? 100 : 0
  })
  expect(slow.recorded[1]).toEqual(['e complete', 'a complete', 'b running'])
  const many = Array.from({ length: 120 }, (_, n) => `n${n} > n${n + 1}`)
  const { recorded } = await run(['t > n0', ...many])
  expect(recorded.map(rows => rows.length)).toEqual([101])
})
