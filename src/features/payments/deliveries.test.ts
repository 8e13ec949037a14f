/** Paths of their own that are sold: the texts and outputs that buyers get for their payments, and when. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { type Answer, buildApp, type TestApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Facilitator, startFacilitator } from '#test/support/facilitator.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { passTime } from '#test/support/pass-time.ts'
import { workflowCalls } from '#test/support/workflows.ts'
import { decoded, paymentFor } from '#test/support/x402-buyer.ts'
import type { Execution } from '../workflows/workflows.schema.ts'
import type { Transaction } from './ledger/ledger.schema.ts'
import type { Resource } from './selling/resources.schema.ts'

/** A page of another site does not act as the developer, who owns the agents. */
const stranger = { origin: 'https://elsewhere.example' }
const safe = { 'content-security-policy': 'sandbox', 'x-content-type-options': 'nosniff' }
const terms = { price: '0.10', currency: 'USDC', network: 'base-sepolia', description: 'A report' }

let facilitator: Facilitator
let app: TestApp

const start = (clock = {}) =>
  buildApp({ environment: { ...facilitator.environment, DEV_USER: 'dev@example.com' }, ...clock })

beforeAll(async () => {
  facilitator = await startFacilitator()
  app = await start()
})

afterAll(async () => {
  await app.close()
  await facilitator[Symbol.asyncDispose]()
})

async function newShop(service = app) {
  const path = `/api/agents/${await makeAgent(service)}`
  const workflows = workflowCalls(service, path)
  const call = <Body = Record<string, unknown>>(method: string, rest: string, body?: object) =>
    service.call<Body>(method, `${path}${rest}`, body && { body })
  const get = (rest: string, headers: Record<string, string>, method = 'GET') =>
    service.call<Record<string, unknown>>(method, `${path}/x402${rest}`, { headers })
  return {
    ...workflows,
    path,
    call,
    sell: (rest: string, deliver: object) =>
      call<Resource>('POST', '/x402-resources', { ...terms, path: rest, deliver }),
    /** As one who has a role. */
    read: (rest: string, headers = {}) => get(rest, headers),
    head: (rest: string) => get(rest, {}, 'HEAD'),
    offer: (rest: string) => get(rest, stranger),
    /** A request that may be repeated with the same payment. */
    async buyer(rest: string, headers = {}) {
      const payment = await paymentFor(await get(rest, stranger))
      return (more = {}) => get(rest, { ...stranger, ...payment, ...headers, ...more })
    },
    code: (code: string, others: object = {}) =>
      workflows.create(
        { start: { type: 'trigger' }, code: { type: 'code', code } },
        ['start > code'],
        others,
      ),
    asking: (others: object = {}) =>
      workflows.create(
        {
          start: { type: 'trigger' },
          ask: { type: 'wait', approval: '?' },
          code: { type: 'code', code: 'return {n: 7}' },
        },
        ['start > ask', 'ask/approved > code'],
        { concurrency: 10, ...others },
      ),
    decide: async (id: string, approved: boolean) => {
      await workflows.waiting(id, 'ask')
      const answer = await call('POST', `/workflows/executions/${id}/nodes/ask/resume`, { approved })
      expect(answer.status).toBe(200)
    },
    async executions(workflow_id: string) {
      const list = `/workflows/executions?workflow_id=${workflow_id}`
      return (await call<{ executions: Execution[] }>('GET', list)).body.executions
    },
    async sales() {
      const list = '/transactions?state=settled&state=pending'
      return (await call<{ transactions: Transaction[] }>('GET', list)).body.transactions
    },
  }
}

const hasReceipt = ({ headers }: Answer) => decoded(headers['payment-response'])

describe('a text', () => {
  it.each([
    ['text/csv', 'a,b\r\nä,1\r\n', 'text/csv; charset=utf-8'],
    ['text/html', '<script>alert(1)</script>', 'text/html; charset=utf-8'],
    ['text/html; charset=UTF-8', '<b>ü</b>', 'text/html; charset=UTF-8'],
    ['text/markdown;variant="GFM"', '# 漢字 😀', 'text/markdown;variant="GFM"; charset=utf-8'],
    ['application/json', '{"n": 12345678901234567890}', 'application/json'],
    ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
    ['application/vnd.api+json', '[]', 'application/vnd.api+json'],
    ['text/plain', 'x'.repeat(1_000_000), 'text/plain; charset=utf-8'],
  ])('of type %s is delivered as it is', async (content_type, body, type) => {
    const shop = await newShop()
    const deliver = { body, content_type }
    const sold = await shop.sell('/a/report.html', deliver)
    expect(sold).toMatchObject({ status: 201, body: { deliver } })
    expect((await shop.call('GET', '/x402-resources')).body).toMatchObject({ resources: [sold.body] })
    const { status, headers } = await shop.offer('/a/report.html')
    expect([status, decoded(headers['payment-required'])]).toMatchObject([
      402,
      { resource: { mimeType: content_type } },
    ])
    const buy = await shop.buyer('/a/report.html')
    const bought = await buy()
    expect(bought.headers).toMatchObject({
      ...safe,
      'content-type': type,
      'cache-control': 'no-store',
      'content-length': String(Buffer.byteLength(body)),
    })
    expect(bought.body).toEqual(type.includes('json') ? JSON.parse(body) : body)
    expect(hasReceipt(bought)).toMatchObject({ success: true, transaction_id: expect.any(String) })
    expect(await shop.sales()).toMatchObject([{ note: '/a/report.html', state: 'settled' }])
    await eventually(async () => expect((await buy()).status).toBe(402))
    const free = await shop.read('/a/report.html')
    expect(free).toMatchObject({ status: 200, headers: safe })
    expect(free.headers).not.toHaveProperty('payment-response')
  })

  it.each<[field: string, deliver: unknown]>([
    ['deliver', {}],
    ['deliver', 'text'],
    ['deliver', { body: 'x' }],
    ['deliver', { content_type: 'text/plain' }],
    ['deliver', { workflow_id: 'w', content_type: 'text/plain' }],
    ['deliver.body', { body: '', content_type: 'text/plain' }],
    ['deliver.body', { body: { a: 1 }, content_type: 'application/json' }],
    ['deliver', { body: 'x', content_type: 'text/plain', workflow_id: 'w' }],
    ['deliver.body', { body: 'x'.repeat(1_000_001), content_type: 'text/plain' }],
    ...[
      ...['', 'text', 'text/', '/plain', 'text plain', 'text/plain;', 'text/plain; a', '*/*', 'TEXT /plain'],
      ...['text/plain\r\nset-cookie: a=b', 'text/plain\nx: y', 'text/plain; a="b\r\nc"', 'text/plain\u2028'],
      ...['multipart/x-mixed-replace; boundary=a', 'multipart/form-data', 'message/http', 'text/plain; ü=1'],
    ].map((content_type): [string, object] => ['deliver.content_type', { body: 'x', content_type }]),
    ['deliver.content_type', { body: 'x', content_type: 'text/plain; charset=iso-8859-1' }],
    ['deliver.content_type', { body: 'x', content_type: 'text/csv;header=present;CHARSET="utf-16"' }],
    ['deliver.workflow_id', { workflow_id: 'none' }],
    ['deliver.workflow_id', { workflow_id: '' }],
  ])('or output is refused by its %s (%#)', async (field, deliver) => {
    const answer = await shared.sell('/own', deliver as object)
    expect(answer).toMatchObject({ status: 400, body: { code: 400, details: { field } } })
  })

  let shared: Awaited<ReturnType<typeof newShop>>
  beforeAll(async () => {
    shared = await newShop()
  })

  it('or output can not take the place of an answer of the agent', async () => {
    for (const path of ['/chat', '/sources/search'])
      expect(await shared.sell(path, { body: 'x', content_type: 'text/plain' })).toMatchObject({
        status: 400,
        body: { details: { field: 'deliver' } },
      })
  })
})

describe('the output of a workflow', () => {
  it('is delivered as JSON, and the query is its input', async () => {
    const shop = await newShop()
    const id = await shop.code('return {input: args.input, trigger: args.trigger}')
    await shop.sell('/weather', { workflow_id: id })
    const buy = await shop.buyer('/weather?city=K%C3%B6ln&day=1&day=2', {
      'x-note': 'hi',
      authorization: 'Basic c2VjcmV0',
      cookie: 'secret=1',
    })
    const bought = await buy()
    expect(bought.status).toBe(200)
    expect(bought.headers).toMatchObject({
      ...safe,
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    })
    const query = { city: 'Köln', day: ['1', '2'] }
    expect(bought.body).toMatchObject({
      input: query,
      trigger: { kind: 'sale', ref: '/weather', method: 'GET', query, headers: { 'x-note': 'hi' } },
    })
    expect(JSON.stringify(bought.body)).not.toMatch(/c2VjcmV0|secret=1|payment-signature/)
    expect(hasReceipt(bought)).toMatchObject({ success: true })
    expect(await shop.sales()).toHaveLength(1)
    expect(await shop.executions(id)).toMatchObject([{ cause: { kind: 'sale', ref: '/weather' } }])
    await eventually(async () => expect((await buy()).status).toBe(402))
  })

  it('is free for those who have a role, each time anew, and not for a look at its headers', async () => {
    const shop = await newShop()
    const id = await shop.code('return 1')
    await shop.sell('/one', { workflow_id: id })
    expect((await shop.offer('/one')).status).toBe(402)
    const looked = await shop.head('/one')
    expect(looked).toMatchObject({ status: 200, headers: { 'content-type': /json/ } })
    expect(await shop.executions(id)).toEqual([])
    for (let count = 0; count < 2; count += 1)
      expect(await shop.read('/one')).toMatchObject({ status: 200, body: { result: 1 } })
    expect(await shop.executions(id)).toHaveLength(2)
    expect(await shop.sales()).toEqual([])
  })

  it.each(['draft', 'archived'])('of a workflow that is %s can not be sold', async status => {
    const shop = await newShop()
    const id = await shop.code('return 1')
    await shop.call('PUT', `/workflows/${id}`, { status })
    expect(await shop.sell('/one', { workflow_id: id })).toMatchObject({
      status: 400,
      body: { error: /active/, details: { field: 'deliver.workflow_id' } },
    })
  })

  it.each<[string, number, RegExp, (shop: Awaited<ReturnType<typeof newShop>>, id: string) => unknown]>([
    ['paused', 409, /not active/, ({ call }, id) => call('PUT', `/workflows/${id}`, { status: 'draft' })],
    ['deleted', 404, /not found/, ({ call }, id) => call('DELETE', `/workflows/${id}`)],
    ['of a paused agent', 409, /agent is paused/, ({ call }) => call('PUT', '', { status: 'paused' })],
  ])('is not paid for while the workflow is %s', async (_how, status, sentence, change) => {
    const shop = await newShop()
    const id = await shop.code('return 1')
    await shop.sell('/one', { workflow_id: id })
    const buy = await shop.buyer('/one')
    await change(shop, id)
    const settled = facilitator.settled.length
    expect(await buy()).toMatchObject({ status, body: { error: expect.stringMatching(sentence) } })
    expect(facilitator.settled).toHaveLength(settled)
    expect(await shop.sales()).toEqual([])
  })

  it('is paid for with the same payment once the workflow is active again', async () => {
    const shop = await newShop()
    const id = await shop.code('return 1')
    await shop.sell('/one', { workflow_id: id })
    const buy = await shop.buyer('/one')
    await shop.call('PUT', `/workflows/${id}`, { status: 'draft' })
    for (let count = 0; count < 3; count += 1)
      await eventually(async () =>
        expect(await buy()).toMatchObject({ status: 409, body: { error: /not active/ } }),
      )
    await shop.call('PUT', `/workflows/${id}`, { status: 'active' })
    await eventually(async () => expect(await buy()).toMatchObject({ status: 200, body: { result: 1 } }))
  })

  it('that fails is made once more for the same payment, and then never again', async () => {
    const shop = await newShop()
    const id = await shop.code('throw new Error("inner secret")')
    await shop.sell('/bad', { workflow_id: id })
    const [mended, lost] = [await shop.buyer('/bad'), await shop.buyer('/bad')]
    const failed = {
      status: 500,
      body: { code: 500, error: expect.stringMatching(/ended in an error.*once more/) },
    }
    for (const buy of [mended, lost]) expect(await buy()).toMatchObject(failed)
    await eventually(async () => {
      const again = await lost()
      expect(again).toMatchObject({ status: 500, body: { error: expect.not.stringMatching(/more|secret/) } })
      expect(hasReceipt(again)).toMatchObject({ success: true })
    })
    await eventually(async () => expect((await lost()).status).toBe(402))
    const nodes = [
      { id: 'start', type: 'trigger', data: {} },
      { id: 'code', type: 'code', data: { code: 'return "good"' } },
    ]
    expect((await shop.call('PUT', `/workflows/${id}`, { nodes })).status).toBe(200)
    expect(await mended()).toMatchObject({ status: 200, body: { result: 'good' } })
    await eventually(async () => expect((await mended()).status).toBe(402))
    expect(await shop.sales()).toHaveLength(2)
    expect(await shop.executions(id)).toHaveLength(4)
  })

  it('that takes longer than the buyer waits is fetched with the same payment, however often', async () => {
    const shop = await newShop()
    const id = await shop.asking()
    await shop.sell('/slow', { workflow_id: id })
    const [buy, other] = [
      await shop.buyer('/slow', { prefer: 'respond-async, wait=0' }),
      await shop.buyer('/slow', { prefer: 'wait=0' }),
    ]
    const running = async (request: typeof buy) => {
      const answer = await request()
      expect(answer).toMatchObject({
        status: 202,
        body: { status: 'running' },
        headers: { 'retry-after': '5' },
      })
      expect(hasReceipt(answer)).toMatchObject({ success: true })
      return String(answer.body.execution_id)
    }
    const execution = await running(buy)
    for (let count = 0; count < 4; count += 1)
      await eventually(async () => expect(await running(buy)).toBe(execution))
    const second = await running(other)
    expect(second).not.toBe(execution)
    await shop.decide(execution, true)
    await eventually(async () =>
      expect(await buy({ prefer: 'wait=20' })).toMatchObject({ status: 200, body: { n: 7 } }),
    )
    await eventually(async () => expect((await buy()).status).toBe(402))
    expect(await shop.executions(id)).toHaveLength(2)
    expect(await shop.sales()).toHaveLength(2)
    // One that fails after its buyer has stopped waiting is made once more.
    await shop.call('POST', `/workflows/executions/${second}/terminate`)
    await eventually(async () => expect(await running(other)).not.toBe(second))
    expect(await shop.executions(id)).toHaveLength(3)
  })

  it('is kept for its buyer where executions are not kept, and when the workflow is gone', async () => {
    const clock = manualClock()
    const service = await start({ clock })
    onTestFinished(() => service.close())
    const shop = await newShop(service)
    const id = await shop.asking({ keep: 'none' })
    await shop.sell('/slow', { workflow_id: id })
    const buy = await shop.buyer('/slow', { prefer: 'wait=0' })
    const { body } = await buy()
    const free = await shop.read('/slow', { prefer: 'wait=0' })
    expect(free.status).toBe(202)
    for (const { execution_id } of [body, free.body]) {
      await shop.decide(String(execution_id), true)
      await shop.reached(String(execution_id), 'complete')
    }
    await passTime(service, clock, 180_000)
    expect((await shop.get(String(free.body.execution_id))).status).toBe(404)
    expect((await shop.call('DELETE', `/workflows/${id}`)).status).toBe(200)
    await eventually(async () => expect(await buy()).toMatchObject({ status: 200, body: { n: 7 } }))
  })
})
