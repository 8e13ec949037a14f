import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { errorRow, row } from '#test/spec/row.ts'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { startGateway } from '#test/support/gateway.ts'
import { edgesOf, nodesOf, workflowCalls } from '#test/support/workflows.ts'
import type { Workflow } from './workflows.schema.ts'

const path = '/api/agents/default/workflows'
const simple = { nodes: nodesOf({ start: { type: 'trigger' } }), edges: [] }

interface Refusal {
  error: {
    code: string
    message: string
    details: { problems: { node?: string; field: string; issue: string }[] }
  }
}

describe('workflows', () => {
  let app: TestApp

  beforeAll(async () => {
    app = await buildApp({ environment: { DEV_USER: 'dev@example.com' } })
  })
  afterAll(() => app.close())

  const create = (body: object) => app.call<Workflow & Refusal>('POST', path, { body })

  it(`are created and read ${row('POST /api/agents/{id}/workflows')} ${row('GET /api/agents/{id}/workflows/{workflowId}')}`, async () => {
    const nodes = [
      {
        id: 'start',
        type: 'trigger',
        position: { x: 1.5, y: -2 },
        data: { event: 'manual' },
        selected: true,
      },
      { id: 'pause', type: 'wait', position: { x: 10, y: 0 }, data: { seconds: '{{seconds}}' }, width: 12 },
    ]
    const edges = [{ id: 'e1', source: 'start', target: 'pause', targetHandle: null, animated: true }]
    const { status, body } = await create({
      name: 'Orders',
      description: 'All',
      nodes,
      edges,
      status: 'draft',
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({ name: 'Orders', status: 'draft', version: 1, warnings: [] })
    const read = await app.call<Workflow>('GET', `${path}/${body.id}`)
    expect(read.body).toEqual(body)
    // Keys of canvas libraries are dropped.
    expect(read.body.nodes[1]).toEqual({
      id: 'pause',
      type: 'wait',
      position: { x: 10, y: 0 },
      data: { seconds: '{{seconds}}' },
    })
    expect(read.body.edges).toEqual([{ id: 'e1', source: 'start', target: 'pause' }])
    const agent = await app.call<{ stats: { workflows: number } }>('GET', '/api/agents/default')
    expect(agent.body.stats.workflows).toBe(1)
  })

  it(`are listed by status, searched and sorted ${row('GET /api/agents/{id}/workflows')}`, async () => {
    const id = await makeAgent(app)
    const list = (query: string) =>
      app.call<{ workflows: Workflow[]; meta: object }>('GET', `/api/agents/${id}/workflows${query}`)
    for (const [name, status] of [
      ['Alpha', 'draft'],
      ['Beta', 'active'],
      ['Gamma', 'active'],
    ])
      await app.call('POST', `/api/agents/${id}/workflows`, { body: { ...simple, name, status } })
    const active = await list('?status=active&sort=name&order=desc&limit=1')
    expect(active.body).toMatchObject({ workflows: [{ name: 'Gamma' }], meta: { total: 2, has_more: true } })
    expect(active.body.workflows[0]).not.toHaveProperty('nodes')
    expect((await list('?search=alph')).body.workflows).toMatchObject([{ name: 'Alpha' }])
    expect((await list('?status=gone')).status).toBe(400)
  })

  it(`name every problem, each with its node and field ${errorRow('workflows', 400)}`, async () => {
    const nodes = nodesOf({
      start: { type: 'trigger' },
      other: { type: 'trigger' },
      odd: { type: 'teleport' },
      pause: { type: 'wait', seconds: 'long', colour: 'red' },
      check: { type: 'if-else', conditions: [{ left: 1, operator: 'matches', right: 2 }] },
      cycle: { type: 'wait', seconds: 1 },
    })
    const edges = edgesOf(
      'start > pause',
      'pause > gone',
      'check/maybe > cycle',
      'cycle > cycle',
      'cycle > start',
    )
    const { status, body } = await create({ name: 'W', nodes: [...nodes, nodes[0]], edges })
    expect(status).toBe(400)
    expect(body.error.code).toBe('VALIDATION_ERROR')
    const found = body.error.details.problems.map(({ node = '', field }) => `${node} ${field}`)
    for (const expected of [
      ' nodes',
      'start id',
      'odd type',
      'pause data.seconds',
      'pause data.colour',
      'check data.conditions.0.operator',
      ' edges',
      'check edges',
      'cycle edges',
      'start edges',
    ])
      expect(found).toContain(expected)
    for (const { node } of body.error.details.problems) if (node) expect(body.error.message).toContain(node)
  })

  it('may be incomplete as drafts, which they say in warnings, but not when they are active', async () => {
    const nodes = nodesOf({
      start: { type: 'trigger', event: 'moon.full' },
      check: { type: 'if-else' },
      pause: { type: 'wait' },
    })
    const edges = edgesOf('start > check', 'check > pause')
    const draft = await create({ name: 'W', nodes, edges })
    expect(draft.status).toBe(201)
    const warned = draft.body.warnings.map(({ node = '', field }) => `${node} ${field}`)
    expect(warned).toEqual(['check data.conditions', 'pause data.seconds', 'check edges', ' data.event'])
    const activated = await app.call<Refusal>('PUT', `${path}/${draft.body.id}`, {
      body: { status: 'active' },
    })
    expect(activated.status).toBe(400)
    expect(activated.body.error.details.problems).toHaveLength(3)
    const { execute } = workflowCalls(app)
    expect(await execute({ workflow_id: draft.body.id })).toMatchObject({ status: 400 })
  })

  it(`change, and are versioned by their nodes and edges ${row('PUT /api/agents/{id}/workflows/{workflowId}')}`, async () => {
    const { body } = await create({ ...simple, name: 'W' })
    const put = (changes: object) => app.call<Workflow>('PUT', `${path}/${body.id}`, { body: changes })
    expect((await put({ name: 'X', concurrency: 3, keep: 'errors' })).body).toMatchObject({
      name: 'X',
      concurrency: 3,
      keep: 'errors',
      version: 1,
    })
    const nodes = nodesOf({ start: { type: 'trigger', event: 'webhook' } })
    expect((await put({ nodes, status: 'active' })).body).toMatchObject({
      version: 2,
      status: 'active',
      name: 'X',
    })
    expect((await put({ nodes: [] })).status).toBe(400)
    expect((await put({})).status).toBe(400)
    expect((await app.call('GET', `${path}/${body.id}`)).body).toMatchObject({ version: 2, nodes })
  })

  it(`are deleted, and their executions terminated ${row('DELETE /api/agents/{id}/workflows/{workflowId}')} ${errorRow('workflows', 404)}`, async () => {
    const calls = workflowCalls(app)
    const id = await calls.create({ start: { type: 'trigger' }, pause: { type: 'wait', seconds: 3600 } }, [
      'start > pause',
    ])
    const { body } = await calls.execute({ workflow_id: id })
    await calls.waiting(body.execution_id, 'pause')
    expect((await app.call('DELETE', `${path}/${id}`)).body).toEqual({ success: true })
    const ended = await calls.get(body.execution_id)
    expect(ended.body).toMatchObject({ status: 'terminated', workflow_id: id, waiting_until: null })
    expect(ended.body.node_results).toContainEqual(
      expect.objectContaining({ node_id: 'pause', status: 'terminated' }),
    )
    for (const [method, sent] of [['GET'], ['DELETE'], ['PUT', { name: 'X' }]] as const)
      expect((await app.call(method, `${path}/${id}`, { body: sent })).status).toBe(404)
    expect((await calls.execute({ workflow_id: id })).status).toBe(404)
  })

  it.each([
    ['constructor', '{{constructor.constructor}}'],
    ['proto', '{{__proto__.polluted}}'],
    ['tags', '{{#each items}}{{this}}{{/each}}'],
    ['calls', "{{this.constructor.constructor('return process')()}}"],
    ['literals', '{{`process.env`}}'],
  ])('read templates as paths and never evaluate them: %s', async (_, value) => {
    const calls = workflowCalls(app)
    const isPath = value.includes('.') && /^\{\{[\w.]+\}\}$/.test(value)
    const given = (text: string) => ({
      type: 'switch',
      value: text,
      cases: [{ handle: 'empty', operator: 'not_exists' }],
    })
    const refused = {
      name: 'W',
      nodes: nodesOf({ start: { type: 'trigger' }, given: given(value) }),
      edges: [],
    }
    if (!isPath) expect(await create(refused)).toMatchObject({ status: 400 })
    const id = await calls.create(
      {
        start: { type: 'trigger' },
        given: given(isPath ? value : value.replaceAll('{{', '\\{{')),
        inserted: {
          type: 'if-else',
          conditions: [{ left: '{{text}}', operator: 'contains', right: 'execution.id' }],
        },
      },
      ['start > given', 'start > inserted'],
    )
    const execution = await calls.run(id, { text: '{{execution.id}}' })
    expect(execution.status).toBe('complete')
    expect(calls.outputs(execution).given).toEqual({ handle: isPath ? 'empty' : 'default' })
    // What was put in is not looked through again.
    expect(calls.outputs(execution).inserted).toEqual({ result: true })
  })
})

describe('access', () => {
  it('gives viewers reading alone, and hides the workflows of other agents', async () => {
    const gateway = await startGateway()
    onTestFinished(() => gateway.close())
    const app = await testApp({ environment: gateway.environment })
    const owner = await gateway.headers('owner@example.com')
    const viewer = await gateway.headers('viewer@example.com')
    const [own, other] = [await makeAgent(app, { headers: owner }), await makeAgent(app, { headers: owner })]
    await giveRole(app, own, { email: 'viewer@example.com', role: 'viewer', headers: owner })
    const created = await app.call<Workflow>('POST', `/api/agents/${own}/workflows`, {
      headers: owner,
      body: { ...simple, name: 'W', status: 'active' },
    })
    const id = created.body.id
    const as = (headers: Record<string, string>, agent: string) => {
      const calls = {
        call: (method: string, url: string, options: object = {}) =>
          app.call(method, url, { ...options, headers }),
      }
      return { ...calls, ...workflowCalls(calls as never, `/api/agents/${agent}`) }
    }
    expect((await as(viewer, own).call('GET', `/api/agents/${own}/workflows/${id}`)).status).toBe(200)
    expect((await as(viewer, own).execute({ workflow_id: id })).status).toBe(403)
    const { execution_id } = (await as(owner, own).execute({ workflow_id: id })).body
    const elsewhere = as(owner, other)
    expect((await elsewhere.execute({ workflow_id: id })).status).toBe(404)
    for (const [method, rest] of [
      ['GET', `workflows/${id}`],
      ['PUT', `workflows/${id}`],
      ['DELETE', `workflows/${id}`],
      ['POST', `workflows/${id}/hook`],
      ['DELETE', `workflows/${id}/hook`],
      ['GET', `workflows/executions/${execution_id}`],
      ['POST', `workflows/executions/${execution_id}/terminate`],
      ['POST', `workflows/executions/${execution_id}/retry`],
      ['POST', `workflows/executions/${execution_id}/nodes/start/resume`],
    ] as const) {
      const body = rest.endsWith('resume') ? { approved: true } : rest.endsWith('retry') ? {} : { name: 'X' }
      const sent = method === 'PUT' || /re(sume|try)$/.test(rest) ? { body } : {}
      expect((await elsewhere.call(method, `/api/agents/${other}/${rest}`, sent)).status, rest).toBe(404)
    }
  })
})
