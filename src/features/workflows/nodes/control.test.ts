import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type NodeAgent, type NodeStage, setNodeStage } from '#test/support/node-stage.ts'

let stage: NodeStage
let agent: NodeAgent

beforeAll(async () => {
  stage = await setNodeStage()
  agent = await stage.newAgent()
})
afterAll(() => stage[Symbol.asyncDispose]())

describe('data that no node could have', () => {
  it.each([
    ['trigger', 'filter', { filter: '{{conditions}}' }],
    ['trigger', 'event', { event: 7 }],
    ['if-else', 'conditions.0.operator', { conditions: [{ left: 1, operator: 'matches', right: '.*' }] }],
    ['if-else', 'conditions.0.colour', { conditions: [{ left: 1, operator: 'eq', right: 1, colour: 1 }] }],
    ['if-else', 'match', { match: 'none', conditions: [{ left: 1, operator: 'exists' }] }],
    ['switch', 'cases', { value: 1, cases: 7 }],
    ['switch', 'cases.0', { value: 1, cases: [null] }],
    ['loop', 'concurrency', { items: [], concurrency: 21 }],
    ['loop', 'on_item_error', { items: [], on_item_error: 'ignore' }],
    ['wait', 'seconds', { seconds: -1 }],
    ['wait', 'seconds', { seconds: 366 * 86_400 + 1 }],
    ['wait', 'until', { until: 'tomorrow' }],
    ['wait', 'until', { until: '2026-12-24T09:00:00' }],
    ['wait', 'until', { until: '2026-12-24T09:00:00+02:00[Europe/Berlin]' }],
    ['code', 'timeout_seconds', { code: 'return 1', timeout_seconds: 3601 }],
    ['code', 'timeout_seconds', { code: 'return 1', timeout_seconds: '{{seconds}}' }],
    ['code', 'retries.max', { code: 'return 1', retries: { max: 11 } }],
    ['code', 'retries.pause', { code: 'return 1', retries: { max: 1, pause: 2 } }],
    ['code', 'on_interruption', { code: 'return 1', on_interruption: 'ask' }],
  ])('of %s is refused, even in a draft: %s %j', async (type, field, data) => {
    const node = { id: 'node', type, data }
    const nodes = type === 'trigger' ? [node] : [{ id: 'start', type: 'trigger' }, node]
    const edges = type === 'trigger' ? [] : [{ id: 'e', source: 'start', target: 'node' }]
    const body = { name: 'W', status: 'draft', nodes, edges }
    const answer = await stage.app.call('POST', `${agent.path}/workflows`, { body })
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { details: { problems: [{ node: 'node', field: `data.${field}` }] } } },
    })
  })
})

describe('values of another type than the node takes', () => {
  it('become texts where a text is needed, and keep their type elsewhere', async () => {
    const cases = [{ handle: 'seven', operator: 'eq', value: 7 }]
    expect((await agent.runNode({ type: 'switch', value: '{{n}}', cases }, { n: 7 })).output).toEqual({
      handle: 'seven',
    })
    const approval = { type: 'wait', approval: '{{n}}' }
    const id = await agent.begin(approval, { n: 7 })
    await agent.waiting(id, 'node')
    expect(agent.outputs((await agent.get(id)).body).node).toEqual({ approval: '7' })
    await agent.terminate(id)
  })

  it.each([
    [{ type: 'loop', items: '{{text}}' }, 'items: is not a list'],
    [{ type: 'loop', items: '{{many}}' }, 'a loop takes at most 1000'],
    [{ type: 'wait', seconds: '{{text}}' }, 'seconds: must be a number'],
    [{ type: 'wait', until: '{{text}}' }, 'until: must be an ISO 8601 date or time'],
    [{ type: 'wait', until: '{{local}}' }, 'until: needs its offset'],
    [{ type: 'wait', until: '{{far}}' }, 'until: is more than 366 days away'],
    [{ type: 'if-else', conditions: '{{text}}' }, 'conditions: must be a list'],
  ])('end the node: %j', async (node, message) => {
    const far = '2999-01-01T00:00:00Z'
    const input = {
      text: 'none',
      many: Array.from({ length: 1001 }, () => 1),
      far,
      local: '2026-01-01T09:00',
    }
    const { status, error } = await agent.runNode({ ...node, retries: { max: 2 } }, input)
    expect([status, error]).toEqual(['errored', expect.stringContaining(message)])
  })
})

it('a node that takes longer than it may is ended, and tried again', async () => {
  const code = 'await new Promise(resolve => setTimeout(resolve, 60_000))'
  const node = { type: 'code', code, timeout_seconds: 1, retries: { max: 1, delay_seconds: 0 } }
  expect(await agent.runNode(node)).toMatchObject({
    status: 'errored',
    attempts: 2,
    error: 'The node took more than 1 s.',
  })
})

it('a node that has waited was tried once', async () => {
  const written = ['2026-01-01T09:00:00+01:00', '20260101T090000,5+01', '2026-01-01 09:00[Europe/Berlin]']
  for (const time of [{ seconds: 0.05 }, { seconds: 0 }, ...written.map(until => ({ until }))])
    expect(await agent.runNode({ type: 'wait', ...time })).toMatchObject({
      output: { resumed_at: expect.any(String), by: 'time', data: null },
      attempts: 1,
    })
})

it('the duration of a wait is how long it waited', async () => {
  const id = await agent.begin({ type: 'wait', approval: 'Go?' })
  await agent.waiting(id, 'node')
  const since = performance.now()
  // It takes longer than the node takes before and after it waits.
  const { duration_ms } = await agent.runNode({ type: 'wait', seconds: 0.1 })
  expect(duration_ms).toBeGreaterThanOrEqual(100)
  const waited = Math.floor(performance.now() - since)
  const path = `${agent.path}/workflows/executions/${id}/nodes/node/resume`
  await stage.app.call('POST', path, { body: { approved: true } })
  const { node_results } = await agent.reached(id, 'complete')
  expect(node_results.find(({ node_id }) => node_id === 'node')?.duration_ms).toBeGreaterThanOrEqual(waited)
})

it('an optional field that came to nothing is left out', async () => {
  const node = { type: 'http-request', url: stage.server.url, method: '{{method}}' }
  const { status, warnings } = await agent.runNode(node)
  expect({ status, warnings }).toEqual({ status: 'complete', warnings: ['{{method}} is empty'] })
  expect(stage.server.requests.at(-1)?.method).toBe('GET')
})
