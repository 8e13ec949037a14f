import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { nodesOf, workflowCalls } from '#test/support/workflows.ts'
import { cut } from './executions/node-inputs.ts'
import type { Execution } from './workflows.schema.ts'

const workflows = '/api/agents/default/workflows'
type Result = Execution['node_results'][number]

let app: TestApp
let calls: ReturnType<typeof workflowCalls>

beforeAll(async () => {
  app = await buildApp({ environment: { DEV_USER: 'dev@example.com' } })
  calls = workflowCalls(app)
})
afterAll(() => app.close())

const start = { type: 'trigger' }
const is = (left: unknown, right: unknown) => ({
  type: 'if-else',
  conditions: [{ left, operator: 'eq', right }],
})

function node({ id }: { id: string }, nodeId: string, path?: string) {
  const query = path === undefined ? '' : `?path=${encodeURIComponent(path)}`
  return app.call<Result>('GET', `${workflows}/executions/${id}/nodes/${nodeId}${query}`)
}

function inputs({ node_results }: Execution): Record<string, unknown> {
  return Object.fromEntries(
    node_results.map(({ node_id, path, input }) => [`${node_id}${path && ` ${path}`}`, input]),
  )
}

it('results stand in the order in which nodes ran, with their times and what they were given', async () => {
  const id = await calls.create(
    {
      // The names are not in the order of running.
      start,
      z: is('{{n}} of {{workflow.name}} in {{execution.id}}', '{{now}}'),
      m: { type: 'switch', value: '{{nodes.z}}', cases: [{ handle: 'x', value: '{{nodes["z"].result}}' }] },
      a: is('{{gone}}', '{{nodes}}'),
    },
    ['start > z', 'z/false > m', 'm/x > a', 'm/default > a'],
  )
  const execution = await calls.run(id, { n: 7 })
  const results = execution.node_results
  expect(results.map(({ node_id }) => node_id)).toEqual(['start', 'z', 'm', 'a'])
  for (const { started_at, completed_at } of results)
    expect(Date.parse(completed_at ?? '')).toBeGreaterThanOrEqual(Date.parse(started_at))
  const { started_at } = results[1] ?? {}
  expect(inputs(execution)).toEqual({
    start: {},
    z: {
      conditions: [{ left: `7 of W in ${execution.id}`, operator: 'eq', right: started_at }],
    },
    m: { value: { result: false }, cases: [{ handle: 'x', value: false }] },
    a: {
      conditions: [
        {
          left: null,
          operator: 'eq',
          right: { start: { n: 7 }, z: { result: false }, m: { handle: 'default' } },
        },
      ],
    },
  })
  // A later name of the workflow changes nothing of what a node was given.
  await app.call('PUT', `${workflows}/${id}`, {
    body: { name: 'Other', nodes: nodesOf({ start }), edges: [] },
  })
  expect(inputs((await calls.get(execution.id)).body)).toEqual(inputs(execution))
})

it('a node was given only what had ended when it began', async () => {
  const nodes = {
    start,
    early: is('{{nodes.late}}', null),
    late: is('{{nodes.early}}', null),
    last: is('{{nodes.late}}', '{{nodes.early}}'),
  }
  const id = await calls.create(nodes, [
    'start > early',
    'start > late',
    'early/true > last',
    'late/true > last',
  ])
  const execution = await calls.run(id)
  const given = (left: unknown, right: unknown = null) => ({ conditions: [{ left, operator: 'eq', right }] })
  expect(inputs(execution)).toMatchObject({
    early: given(null),
    late: given(null),
    last: given({ result: true }, { result: true }),
  })
  expect(execution.output).toEqual({ result: true })
})

it('runs in loops were given their items, also after the loops have ended', async () => {
  const nodes = {
    start,
    rows: { type: 'loop', items: '{{rows}}' },
    cells: { type: 'loop', items: '{{loop.item.cells}}', concurrency: 2 },
    cell: is('{{loop.item}} at {{loop.index}}', '{{nodes.rows.items}}'),
  }
  const id = await calls.create(nodes, ['start > rows', 'rows/item > cells', 'cells/item > cell'])
  const rows = [{ cells: ['a', 'b'] }, { cells: ['c'] }]
  const execution = await calls.run(id, { rows })
  const given = (left: string) => ({ conditions: [{ left, operator: 'eq', right: null }] })
  expect(inputs(execution)).toMatchObject({
    rows: { items: rows },
    'cells 1': { items: ['c'] },
    'cell 0.1': given('b at 1'),
    'cell 1.0': given('c at 0'),
  })
  expect((await node(execution, 'cell', '0.1')).body).toMatchObject({ path: '0.1', input: given('b at 1') })
  expect((await node(execution, 'cell', '0.1.input.conditions[0].left')).body.input).toBe('b at 1')
  expect((await node(execution, 'cell', '0.1.output.result')).body.output).toBe(false)
  for (const [path, status] of [
    [undefined, 400],
    ['0.7', 404],
    ['0.1.conditions', 400],
    ['0.1.input.none', 404],
  ] as const)
    expect(await node(execution, 'cell', path), path).toMatchObject({ status })
})

it('a long input is cut at 64 KB, and whole at its own address', async () => {
  const long = 'ü"'.repeat(40_000)
  const id = await calls.create({ start, check: is('{{long}}', ['{{long}}', '{{n}}']) }, ['start > check'])
  const execution = await calls.run(id, { long, n: 1 })
  const [, check] = execution.node_results
  expect(check).toMatchObject({ truncated: true, input: { conditions: [{ left: expect.any(String) }] } })
  expect(Buffer.byteLength(JSON.stringify(check?.input))).toBeLessThanOrEqual(64 * 1024)
  const whole = { conditions: [{ left: long, operator: 'eq', right: [long, 1] }] }
  const shown = (await node(execution, 'check')).body
  expect(shown).toMatchObject({ input: whole, output: { result: false } })
  expect(shown).not.toHaveProperty('truncated')
  expect((await node(execution, 'check', 'input.conditions[0].right[1]')).body.input).toBe(1)
})

it('a node that did not run was given nothing', async () => {
  const id = await calls.create({ start, pinned: is(1, 1), fails: { type: 'loop', items: '{{items}}' } }, [
    'start > pinned',
    'pinned/true > fails',
  ])
  const failed = await calls.run(id, {}, { pinned: { pinned: { result: true } } })
  expect(inputs(failed)).toMatchObject({ pinned: null, fails: { items: null } })
  const retry = await app.call<{ execution_id: string }>(
    'POST',
    `${workflows}/executions/${failed.id}/retry`,
    {
      body: {},
    },
  )
  const again = await calls.reached(retry.body.execution_id, 'errored')
  expect(again.node_results.map(({ node_id, input }) => [node_id, input])).toEqual([
    ['start', null],
    ['pinned', null],
    ['fails', { items: null }],
  ])
})

it('secrets are masked, and executions of others are not found', async () => {
  const url = 'http://127.0.0.1:1/{{path}}?q={{path}}'
  const send = { type: 'http-request', url, headers: { 'X-Api-Key': 'k-1234567890', 'X-Id': '{{path}}' } }
  const id = await calls.create({ start, send }, ['start > send'])
  const execution = await calls.run(id, { path: 'a b' })
  const { body } = await node(execution, 'send')
  expect(body.input).toMatchObject({
    url: 'http://127.0.0.1:1/a%20b?q=a%20b',
    headers: { 'X-Id': expect.stringMatching(/a b$/) },
  })
  expect(JSON.stringify([body, execution])).not.toContain('1234567890')
  const other = `/api/agents/${await makeAgent(app)}/workflows/executions/${execution.id}/nodes/send`
  expect((await app.call('GET', other)).status).toBe(404)
  expect((await node(execution, 'gone')).status).toBe(404)
  expect((await node({ id: 'gone' }, 'send')).status).toBe(404)
})

describe('the beginning of a value', () => {
  it.each([
    ['a'.repeat(100)],
    [{ a: '"'.repeat(100), b: 1 }],
    [[1, [2, 'ü'.repeat(60)], { c: null }]],
    ['😀'.repeat(50)],
    [{ ['k'.repeat(100)]: 1 }],
    [Array.from({ length: 100 }, (_, index) => ({ index }))],
  ])('has its size and shape: %#', value => {
    const shown = cut(value, { bytes: 50 })
    expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThanOrEqual(50)
    expect(Array.isArray(shown)).toBe(Array.isArray(value))
    expect(JSON.stringify(shown).isWellFormed()).toBe(true)
    expect(cut(value, { bytes: 10_000 })).toEqual(value)
  })
})
