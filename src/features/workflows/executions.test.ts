import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestApp } from '#test/support/build-app.ts'
import { buildApp } from '#test/support/build-app.ts'
import { workflowCalls } from '#test/support/workflows.ts'

describe('executions', () => {
  let app: TestApp
  let calls: ReturnType<typeof workflowCalls>

  beforeAll(async () => {
    app = await buildApp()
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
})
