import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorRow, row } from '#test/spec/row.ts'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { makeTemporaryDirectory } from '#test/support/temporary-directory.ts'
import { edgesOf, nodesOf, workflowCalls } from '#test/support/workflows.ts'
import type { Execution } from './workflows.schema.ts'

const workflows = '/api/agents/default/workflows'
const executions = `${workflows}/executions`

function resultOf({ node_results }: Execution, node: string) {
  return node_results.find(({ node_id }) => node_id === node)
}

describe('executions', () => {
  let app: TestApp
  let calls: ReturnType<typeof workflowCalls>

  beforeAll(async () => {
    app = await buildApp({ environment: { DEV_USER: 'dev@example.com' } })
    calls = workflowCalls(app)
  })
  afterAll(() => app.close())

  it('choose edges, and join where all branches that run have ended', async () => {
    const id = await calls.create(
      {
        start: { type: 'trigger' },
        rich: { type: 'if-else', conditions: [{ left: '{{total}}', operator: 'gte', right: 100 }] },
        paid: { type: 'switch', value: '{{status}}', cases: [{ handle: 'paid', value: 'paid' }] },
        small: { type: 'wait', seconds: 0 },
        join: {
          type: 'if-else',
          conditions: [{ left: '{{nodes.rich.result}}', operator: 'eq', right: true }],
        },
      },
      [
        'start > rich',
        'start > paid',
        'rich/true > join',
        'rich/false > small',
        'small > join',
        'paid/paid > join',
      ],
    )
    const execution = await calls.run(id, { total: '150', status: 'paid' })
    expect(execution).toMatchObject({ status: 'complete', output: { result: true }, error: null })
    expect(calls.outputs(execution)).toEqual({
      start: { total: '150', status: 'paid' },
      rich: { result: true },
      paid: { handle: 'paid' },
      join: { result: true },
    })
    expect((await calls.run(id, { total: 20, status: 'paid' })).output).toEqual({ result: false })
  })

  it('wait for nothing that a failed item of a loop has left', async () => {
    const nodes = {
      start: { type: 'trigger' },
      each: { type: 'loop', items: '{{items}}', on_item_error: 'continue' },
      bad: { type: 'wait', until: '{{loop.item}}' },
      hour: { type: 'wait', seconds: 3600 },
      days: { type: 'wait', seconds: 30 * 86_400 },
    }
    const edges = ['start > each', 'each/item > hour', 'each/item > bad', 'each/done > days']
    const workflow_id = await calls.create(nodes, edges)
    const { body } = await calls.execute({ workflow_id, input: { items: ['never'] } })
    await calls.waiting(body.execution_id, 'days')
    const { waiting_until } = (await calls.get(body.execution_id)).body
    expect(Date.parse(waiting_until ?? '')).toBeGreaterThan(Date.now() + 29 * 86_400_000)
  })

  it('begin more nodes at a time than one statement of SQLite can store', async () => {
    const last = Array.from({ length: 30 }, (_, index) => `n${index}`)
    const nodes = Object.fromEntries(last.map(id => [id, { type: 'wait', seconds: 0 }]))
    const each = { type: 'loop', items: '{{items}}', concurrency: 20 }
    const edges = ['start > each', ...last.map(id => `each/item > ${id}`)]
    const id = await calls.create({ start: { type: 'trigger' }, each, ...nodes }, edges)
    const items = Array.from({ length: 20 }, (_, index) => index)
    expect(await calls.run(id, { items })).toMatchObject({ status: 'complete', error: null })
  })

  it('run the body of a loop for each item, in nested loops too', async () => {
    const id = await calls.create(
      {
        start: { type: 'trigger' },
        rows: { type: 'loop', items: '{{rows}}', concurrency: 2 },
        cells: { type: 'loop', items: '{{loop.item}}' },
        cell: { type: 'switch', value: '{{loop.item}}', cases: [{ handle: 'x', value: 'x' }] },
        end: { type: 'if-else', conditions: [{ left: '{{nodes.rows.items}}', operator: 'not_empty' }] },
      },
      ['start > rows', 'rows/item > cells', 'cells/item > cell', 'rows/done > end'],
    )
    const execution = await calls.run(id, { rows: [['x', 'y'], [], ['x']] })
    expect(execution).toMatchObject({ status: 'complete', output: { result: true } })
    const [x, other] = [{ handle: 'x' }, { handle: 'default' }]
    expect(calls.outputs(execution)).toMatchObject({
      rows: { items: [{ items: [x, other] }, { items: [] }, { items: [x] }], errors: [] },
      'cells 0': { items: [x, other], errors: [] },
      'cell 0.1': other,
      'cell 2.0': x,
    })
  })

  it('fail with the message of the node, unless an edge leaves by its error', async () => {
    const nodes = {
      start: { type: 'trigger' },
      each: { type: 'loop', items: '{{rows}}' },
      after: { type: 'switch', value: '{{nodes.each.error.code}}', cases: [{ handle: 'x', value: 'x' }] },
    }
    const failing = await calls.create(nodes, ['start > each', 'each/done > after'])
    const failed = await calls.run(failing, { rows: 'none' })
    expect(failed).toMatchObject({
      status: 'errored',
      error: expect.stringMatching(/^each: items/),
      output: null,
    })
    const handled = await calls.create(nodes, ['start > each', 'each/error > after'])
    const execution = await calls.run(handled, {})
    expect(execution.status).toBe('complete')
    expect(execution.node_results.find(({ node_id }) => node_id === 'each')).toMatchObject({
      status: 'errored',
      output: { error: { code: 'VALIDATION_ERROR' } },
      warnings: ['{{rows}} is empty'],
    })
  })

  it(`start, show and list what became of them ${row('POST /api/agents/{id}/workflows/execute')} ${row('GET /api/agents/{id}/workflows/executions/{executionId}')} ${row('GET /api/agents/{id}/workflows/executions')}`, async () => {
    const id = await calls.create({ start: { type: 'trigger' } }, [])
    const started = await calls.execute({ workflow_id: id, input: { n: 1 } })
    expect(started.body).toEqual({
      execution_id: expect.any(String),
      status: 'running',
      started_at: expect.stringMatching(/Z$/),
    })
    const execution = await calls.reached(started.body.execution_id, 'complete')
    expect(execution).toMatchObject({
      workflow_id: id,
      version: 1,
      cause: { kind: 'manual' },
      input: { n: 1 },
    })
    expect(execution.node_results).toEqual([
      expect.objectContaining({
        node_id: 'start',
        path: '',
        status: 'complete',
        attempts: 1,
        output: { n: 1 },
      }),
    ])
    const list = (query: string) =>
      app.call<{ executions: { id: string }[]; meta: { total: number } }>('GET', `${executions}?${query}`)
    const { id: executionId, created_at } = execution
    expect((await list(`workflow_id=${id}`)).body).toMatchObject({ executions: [{ id: executionId }] })
    expect((await list(`workflow_id=${id}&status=errored`)).body.meta.total).toBe(0)
    expect((await list(`workflow_id=${id}&from=${created_at}&to=${created_at}`)).body.meta.total).toBe(1)
    expect((await list(`workflow_id=${id}&to=2001-01-01`)).body.meta.total).toBe(0)
    expect((await list('status=odd')).status).toBe(400)
    expect((await calls.get('missing')).status).toBe(404)
  })

  it(`are refused while one runs or waits, unless there are more places ${errorRow('workflows', 409)}`, async () => {
    const nodes = { start: { type: 'trigger' }, ok: { type: 'wait', approval: 'Go on?' } }
    const id = await calls.create(nodes, ['start > ok'])
    const first = await calls.execute({ workflow_id: id })
    await calls.waiting(first.body.execution_id, 'ok')
    expect(await calls.execute({ workflow_id: id })).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT' } },
    })
    await app.call('PUT', `${workflows}/${id}`, { body: { concurrency: 2 } })
    expect((await calls.execute({ workflow_id: id })).status).toBe(200)
    expect((await calls.execute({ workflow_id: id })).status).toBe(409)
    await app.call('PUT', `${workflows}/${id}`, { body: { status: 'paused' } })
    expect((await calls.execute({ workflow_id: id })).status).toBe(409)
  })

  it('start nothing while their agent is paused', async () => {
    const agent = await makeAgent(app)
    const own = workflowCalls(app, `/api/agents/${agent}`)
    const id = await own.create({ start: { type: 'trigger' } }, [])
    await app.call('PUT', `/api/agents/${agent}`, { body: { status: 'paused' } })
    expect(await own.execute({ workflow_id: id })).toMatchObject({ status: 409 })
  })

  it('are the same for the same Idempotency-Key, which takes no other request', async () => {
    const id = await calls.create({ start: { type: 'trigger' } }, [])
    const execute = (input: object) =>
      calls.execute({ workflow_id: id, input }, { 'idempotency-key': `key-${id}` })
    const { body } = await execute({ n: 1 })
    await calls.reached(body.execution_id, 'complete')
    expect((await execute({ n: 1 })).body).toMatchObject({
      execution_id: body.execution_id,
      status: 'complete',
    })
    expect((await execute({ n: 2 })).status).toBe(409)
  })

  it('wait for a person, and go on as they decide', async () => {
    const id = await calls.create(
      {
        start: { type: 'trigger' },
        ask: { type: 'wait', approval: 'Send to {{name}}?' },
        sent: { type: 'switch', value: '{{nodes.ask.data.note}}', cases: [{ handle: 'x', value: 'x' }] },
        dropped: { type: 'wait', seconds: 0 },
      },
      ['start > ask', 'ask/approved > sent', 'ask/rejected > dropped'],
    )
    const decide = async (decision: object) => {
      const { execution_id } = (await calls.execute({ workflow_id: id, input: { name: 'Ada' } })).body
      await calls.waiting(execution_id, 'ask')
      const resume = `${executions}/${execution_id}/nodes/ask/resume`
      const shown = (await calls.get(execution_id)).body.node_results.find(({ node_id }) => node_id === 'ask')
      expect(shown?.output).toEqual({ approval: 'Send to Ada?' })
      expect((await app.call('POST', resume.replace('ask', 'sent'), { body: decision })).status).toBe(404)
      expect((await app.call('POST', resume, { body: {} })).status).toBe(400)
      expect(await app.call('POST', resume, { body: decision })).toMatchObject({ body: { success: true } })
      const execution = await calls.reached(execution_id, 'complete')
      expect((await app.call('POST', resume, { body: decision })).status).toBe(409)
      return calls.outputs(execution)
    }
    const approved = await decide({ approved: true, data: { note: 'x' } })
    expect(approved).toMatchObject({
      sent: { handle: 'x' },
      ask: { by: 'dev@example.com', data: { note: 'x' } },
    })
    expect(await decide({ approved: false })).toHaveProperty('dropped')
  })

  it('wait in loops, where a decision names its run', async () => {
    const id = await calls.create(
      {
        start: { type: 'trigger' },
        each: { type: 'loop', items: [1, 2], concurrency: 2 },
        ask: { type: 'wait', approval: '?' },
      },
      ['start > each', 'each/item > ask', 'ask/approved > each'],
    )
    const { execution_id } = (await calls.execute({ workflow_id: id })).body
    await calls.waiting(execution_id, 'ask')
    const resume = (body: object) =>
      app.call('POST', `${executions}/${execution_id}/nodes/ask/resume`, {
        body: { approved: true, ...body },
      })
    expect((await resume({})).status).toBe(400)
    expect((await resume({ path: '1' })).status).toBe(200)
    expect((await resume({ path: '0' })).status).toBe(200)
    expect(await calls.reached(execution_id, 'complete')).toMatchObject({ output: { errors: [] } })
  })

  it('are terminated at once, in a pause as well as while they wait', async () => {
    for (const [seconds, isShort] of [
      [4, true],
      [3600, false],
    ] as const) {
      const id = await calls.create({ start: { type: 'trigger' }, pause: { type: 'wait', seconds } }, [
        'start > pause',
      ])
      const { execution_id } = (await calls.execute({ workflow_id: id })).body
      if (!isShort) await calls.waiting(execution_id, 'pause')
      const ended = await app.call('POST', `${executions}/${execution_id}/terminate`)
      expect(ended).toMatchObject({ status: 200, body: { status: 'terminated' } })
      expect((await app.call('POST', `${executions}/${execution_id}/terminate`)).status).toBe(409)
      await app.service.infrastructure.runner.idle()
      expect((await calls.get(execution_id)).body).toMatchObject({ status: 'terminated', output: null })
    }
  })

  it('go on after a restart, without running again what has ended', async () => {
    const directory = makeTemporaryDirectory()
    const clock = manualClock()
    const first = await buildApp({ dataDirectory: directory.path, clock })
    const before = workflowCalls(first)
    const id = await before.create(
      {
        start: { type: 'trigger' },
        pause: { type: 'wait', seconds: 3600 },
        end: { type: 'wait', seconds: 0 },
      },
      ['start > pause', 'pause > end'],
    )
    const { execution_id } = (await before.execute({ workflow_id: id, input: { n: 1 } })).body
    await before.waiting(execution_id, 'pause')
    const started = resultOf((await before.get(execution_id)).body, 'start')
    await first.close()
    clock.advance(3_601_000)
    const second = await testApp({ dataDirectory: directory.path, clock })
    const execution = await workflowCalls(second).reached(execution_id, 'complete')
    expect(resultOf(execution, 'start')).toEqual(started)
    expect(calls.outputs(execution).pause).toMatchObject({ by: 'time' })
  })

  it('are retried with the mended workflow, reusing what has ended well', async () => {
    const nodes = (items: string) => ({
      start: { type: 'trigger' },
      slow: { type: 'wait', seconds: 0 },
      each: { type: 'loop', items },
    })
    const id = await calls.create(nodes('{{missing}}'), ['start > slow', 'slow > each'])
    const failed = await calls.run(id, { rows: [1] })
    expect(failed.status).toBe('errored')
    const retry = (body: object) =>
      app.call<{ execution_id: string }>('POST', `${executions}/${failed.id}/retry`, { body })
    const same = await retry({})
    expect((await calls.reached(same.body.execution_id, 'errored')).error).toBe(failed.error)
    await app.call('PUT', `${workflows}/${id}`, { body: { nodes: nodesOf(nodes('{{rows}}')) } })
    const again = await calls.reached((await retry({ version: 'same' })).body.execution_id, 'errored')
    expect(again.version).toBe(1)
    const mended = await calls.reached((await retry({})).body.execution_id, 'complete')
    expect(mended).toMatchObject({ version: 2, cause: { kind: 'manual', ref: failed.id } })
    expect(resultOf(mended, 'slow')).toEqual({ ...resultOf(failed, 'slow'), input: null })
    const whole = await calls.reached((await retry({ from_node: 'slow' })).body.execution_id, 'complete')
    expect(resultOf(whole, 'slow')?.output).not.toEqual(resultOf(failed, 'slow')?.output)
    expect((await retry({ from_node: 'gone' })).status).toBe(400)
    const other = { ...nodes('{{rows}}'), slow: { type: 'loop', items: [] } }
    await app.call('PUT', `${workflows}/${id}`, {
      body: { nodes: nodesOf(other), edges: edgesOf('start > slow', 'slow/done > each') },
    })
    expect((await retry({})).status).toBe(400)
    expect((await retry({ from_node: 'slow' })).status).toBe(200)
  })

  it('take pinned outputs for nodes that are not to run, and stop after a node', async () => {
    const id = await calls.create(
      {
        start: { type: 'trigger' },
        fails: { type: 'loop', items: 'none' },
        check: { type: 'if-else', conditions: [{ left: '{{nodes.fails.n}}', operator: 'eq', right: 7 }] },
        after: { type: 'wait', seconds: 3600 },
        aside: { type: 'wait', seconds: 3600 },
      },
      ['start > fails', 'fails/done > check', 'check/true > after', 'start > aside'],
    )
    const tried = await calls.run(id, {}, { pinned: { fails: { n: 7 } }, stop_after: 'check' })
    expect(tried).toMatchObject({ status: 'complete', output: { result: true } })
    expect(Object.keys(calls.outputs(tried)).toSorted()).toEqual(['check', 'fails', 'start'])
    for (const body of [{ pinned: { gone: 1 } }, { stop_after: 'gone' }])
      expect((await calls.execute({ workflow_id: id, ...body })).status).toBe(400)
  })

  it('fail where an output is too large, and say its size', async () => {
    const nodes = {
      start: { type: 'trigger' },
      each: { type: 'loop', items: [1, 2, 3, 4] },
      copy: { type: 'wait', seconds: 0 },
    }
    const id = await calls.create(nodes, ['start > each', 'each/item > copy'])
    const execution = await calls.run(id, {}, { pinned: { copy: 'x'.repeat(240_000) } })
    expect(execution.status).toBe('complete')
    const larger = await calls.run(id, {}, { pinned: { copy: 'x'.repeat(300_000) } })
    expect(larger).toMatchObject({ status: 'errored', error: expect.stringMatching(/has 1200\d+ bytes/) })
  })
})
