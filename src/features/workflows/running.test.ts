import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { startNodeServer } from '#test/support/node-server.ts'
import { passTime } from '#test/support/pass-time.ts'
import { workflowCalls } from '#test/support/workflows.ts'

const executions = '/api/agents/default/workflows/executions'
const environment = { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' }

describe('nodes', () => {
  let app: TestApp
  let calls: ReturnType<typeof workflowCalls>

  beforeAll(async () => {
    app = await buildApp({ environment })
    calls = workflowCalls(app)
  })
  afterAll(() => app.close())

  const request = (url: string, others: object = {}) => ({
    type: 'http-request',
    method: 'POST',
    url,
    ...others,
  })
  const resultsOf = async (id: string) =>
    Object.fromEntries((await calls.get(id)).body.node_results.map(result => [result.node_id, result]))

  it('are broken off when their execution is terminated, and nothing is recorded afterwards', async () => {
    using server = await startNodeServer()
    const nodes = {
      start: { type: 'trigger' },
      hang: request(server.url),
      after: { type: 'wait', seconds: 0 },
    }
    const id = await calls.create(nodes, ['start > hang', 'hang/error > after'])
    const { execution_id } = (await calls.execute({ workflow_id: id })).body
    await eventually(() => expect(server.requests).toHaveLength(1))
    expect((await app.call('POST', `${executions}/${execution_id}/terminate`)).status).toBe(200)
    await eventually(() => expect(server.requests).toMatchObject([{ isBroken: true }]))
    await app.service.infrastructure.runner.idle()
    expect((await calls.get(execution_id)).body).toMatchObject({ status: 'terminated', error: null })
    const { hang, after } = await resultsOf(execution_id)
    expect(hang).toMatchObject({ status: 'terminated', attempts: 1, output: null })
    expect(after).toBeUndefined()
    // Its place is free again.
    expect((await calls.execute({ workflow_id: id })).status).toBe(200)
  })

  it('are tried again under the same key, as often as they say', async () => {
    using server = await startNodeServer()
    const retries = { max: 2, delay_seconds: 0.01 }
    const nodes = { start: { type: 'trigger' }, send: request(`${server.url}/status/503`, { retries }) }
    const execution = await calls.run(await calls.create(nodes, ['start > send']))
    expect(execution).toMatchObject({ status: 'complete' })
    const { send } = await resultsOf(execution.id)
    expect(send).toMatchObject({ attempts: 3, status: 'complete', error: null })
    expect(server.requests.map(({ key }) => key)).toEqual(Array(3).fill(`${execution.id}:send:`))
  })

  it('take no longer than they may, and leave by their error', async () => {
    using server = await startNodeServer()
    const hang = request(server.url, { timeout_seconds: 1 })
    const nodes = { start: { type: 'trigger' }, hang, after: { type: 'wait', seconds: 0 } }
    const execution = await calls.run(await calls.create(nodes, ['start > hang', 'hang/error > after']))
    expect(execution.node_results.find(({ node_id }) => node_id === 'hang')).toMatchObject({
      status: 'errored',
      error: 'The node took more than 1 s.',
    })
    expect(calls.outputs(execution)).toHaveProperty('after')
    await eventually(() => expect(server.requests).toMatchObject([{ isBroken: true }]))
  })

  it('show what they do while others run, and take decisions meanwhile', async () => {
    using server = await startNodeServer()
    const nodes = {
      start: { type: 'trigger' },
      slow: request(server.url),
      ask: { type: 'wait', approval: 'Go on, {{name}}?' },
      after: { type: 'switch', value: '{{nodes.ask.data}}', cases: [{ handle: 'x', value: 'x' }] },
    }
    const id = await calls.create(nodes, ['start > slow', 'start > ask', 'ask/approved > after'])
    const { execution_id } = (await calls.execute({ workflow_id: id })).body
    await eventually(async () => {
      const { slow, ask } = await resultsOf(execution_id)
      expect([slow?.status, ask?.status]).toEqual(['running', 'waiting'])
      expect(ask?.warnings).toEqual(['{{name}} is empty'])
    })
    const decision = { approved: true, data: 'x' }
    const decided = await app.call('POST', `${executions}/${execution_id}/nodes/ask/resume`, {
      body: decision,
    })
    expect(decided.status).toBe(200)
    await eventually(async () => {
      const { slow, after } = await resultsOf(execution_id)
      expect([slow?.status, after?.output]).toEqual(['running', { handle: 'x' }])
    })
    server.requests[0]?.response.end('{}')
    await calls.reached(execution_id, 'complete')
  })

  it('begin once only, however many ask at the same time', async () => {
    using server = await startNodeServer()
    const nodes = { start: { type: 'trigger' }, hang: request(server.url) }
    const id = await calls.create(nodes, ['start > hang'])
    const all = Array.from({ length: 6 }, () => calls.execute({ workflow_id: id }))
    const statuses = (await Promise.all(all)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, 409, 409, 409, 409, 409])
    const other = await calls.create({ start: { type: 'trigger' } }, [], { concurrency: 10 })
    const same = Array.from({ length: 6 }, () =>
      calls.execute({ workflow_id: other }, { 'idempotency-key': `same-${other}` }),
    )
    const ids = (await Promise.all(same)).map(({ body }) => body.execution_id)
    expect(new Set(ids).size).toBe(1)
  })

  it('are refused where they are too many or nested too deep, and never break the service', async () => {
    const deep = JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`)
    const start = { id: 'start', type: 'trigger', data: {} }
    const many = Array.from({ length: 201 }, (_, n) => ({ ...start, id: `n${n}` }))
    const bodies = [
      { name: 'W', nodes: many, edges: [] },
      { name: 'W', nodes: [{ ...start, data: { filter: deep } }], edges: [] },
      { name: 'W', nodes: [{ ...start, data: null }], edges: [{}] },
      { name: 'W', nodes: 'x'.repeat(1024 * 1024), edges: [] },
    ]
    for (const body of bodies) {
      const { status } = await app.call('POST', '/api/agents/default/workflows', { body })
      expect([400, 413]).toContain(status)
    }
    const id = await calls.create({ start: { type: 'trigger' } }, [])
    expect([400, 413]).toContain((await calls.execute({ workflow_id: id, input: { deep } })).status)
  })
})

it('an execution that waits in vain for a place has failed after a day', async () => {
  const clock = manualClock()
  const app = await testApp({ environment, clock })
  const calls = workflowCalls(app)
  const nodes = { start: { type: 'trigger', event: 'webhook' }, ask: { type: 'wait', approval: '?' } }
  const id = await calls.create(nodes, ['start > ask'])
  const { url } = (await app.call<{ url: string }>('POST', `/api/agents/default/workflows/${id}/hook`)).body
  const call = async () =>
    (await app.call<{ execution_id: string }>('POST', new URL(url).pathname, { body: {} })).body.execution_id
  const first = await call()
  await calls.waiting(first, 'ask')
  const second = await call()
  expect((await calls.get(second)).body).toMatchObject({ status: 'queued', started_at: null })
  await passTime(app, clock, 25 * 3_600_000)
  expect(await calls.reached(second, 'errored')).toMatchObject({ error: 'It waited in vain for a place.' })
  expect((await calls.get(first)).body.status).toBe('running')
})
