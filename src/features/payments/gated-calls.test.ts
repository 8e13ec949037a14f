/** All calls that can be sold: their offers, the callers who need none, and the headers that pay. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { type Facilitator, payTo, startFacilitator } from '#test/support/facilitator.ts'
import { startGateway } from '#test/support/gateway.ts'
import { decoded, paymentFor } from '#test/support/x402-buyer.ts'

/** A page of another site does not act as the developer. */
const stranger = { origin: 'https://elsewhere.example' }
const terms = { price: '0.10', currency: 'USDC', network: 'base-sepolia', description: 'x' }

let facilitator: Facilitator
let app: TestApp
let path: string

beforeAll(async () => {
  facilitator = await startFacilitator()
  app = await buildApp({ environment: { ...facilitator.environment, DEV_USER: 'dev@example.com' } })
  path = `/api/agents/${await makeAgent(app)}`
  await sell(app, path)
})

afterAll(async () => {
  await app.close()
  await facilitator[Symbol.asyncDispose]()
})

async function sell(service: TestApp, agent: string, headers = {}) {
  for (const sold of ['/chat', '/sources/search', '/own/path']) {
    const answer = await service.call('POST', `${agent}/x402-resources`, {
      headers,
      body: { ...terms, path: sold },
    })
    expect(answer.status).toBe(201)
  }
}

it('every gated route has the offer at the top of its body, for buyers of version 1', async () => {
  const gated = app.routes.filter(({ config, method }) => config.soldAs !== undefined && method !== 'HEAD')
  expect(gated.length).toBeGreaterThan(3)
  for (const { method, url } of gated) {
    const address = url
      .replace('/api/agents/:id', path)
      .replace('*', 'own/path')
      .replace(':messageId', 'none')
    const write = String(method) === 'POST' ? { body: { content: 'Hello' } } : {}
    const refused = [stranger, { ...stranger, ...(await badPayment(String(method), address, write)) }]
    for (const headers of refused) {
      const answer = await app.call(String(method), `${address}?query=x`, { ...write, headers })
      expect([url, answer]).toMatchObject([url, { status: 402 }])
      expect(answer.body).toEqual({
        error: expect.any(String),
        code: 402,
        x402Version: 1,
        accepts: [expect.objectContaining({ scheme: 'exact', maxAmountRequired: '100000', payTo })],
      })
      expect(decoded(answer.headers['payment-required'])).toMatchObject({ x402Version: 2, accepts: [{}] })
    }
  }
})

/** Of too small an amount. */
async function badPayment(method: string, address: string, write: object) {
  const offer = await app.call(method, `${address}?query=x`, { ...write, headers: stranger })
  return await paymentFor(offer, {
    change: payment => ({ ...payment, accepted: { ...Object(payment).accepted, amount: '1' } }),
  })
}

describe('selling its calls closes an agent to nobody', () => {
  type Caller = [who: string, agent: string, headers: Record<string, string>]
  type Statuses = readonly [chat: number, search: number]

  async function statuses(service: TestApp, [, agent, headers]: Caller): Promise<Statuses> {
    const call = (method: string, rest: string, body?: object) =>
      service.call(method, `/api/agents/${agent}${rest}`, { headers, ...(body && { body }) })
    const chat = await call('POST', '/chat', { content: 'Hello' })
    return [chat.status, (await call('GET', '/sources/search?query=x')).status]
  }

  /** The statuses of callers before and after the calls of all their agents are sold. */
  async function around(service: TestApp, callers: readonly Caller[], owner = {}) {
    const before = []
    for (const caller of callers) before.push(await statuses(service, caller))
    for (const agent of new Set(callers.map(([, id]) => id)))
      await sell(service, `/api/agents/${agent}`, owner)
    const rows: Record<string, [before: Statuses, after: Statuses]> = {}
    for (const [index, caller] of callers.entries())
      rows[caller[0]] = [before[index] ?? [0, 0], await statuses(service, caller)]
    return rows
  }

  it('that has a role behind a gateway', async () => {
    const gateway = await startGateway()
    const service = await testApp({ environment: { ...gateway.environment, ...facilitator.environment } })
    const of = (name: string) => gateway.headers(`${name}@example.com`)
    const owner = await of('owner')
    const agent = await makeAgent(service, { headers: owner })
    for (const role of ['owner', 'admin', 'viewer'] as const)
      await giveRole(service, agent, { email: `${role}2@Example.com`, role, headers: owner })
    const callers: Caller[] = [['owner', agent, owner]]
    for (const name of ['owner2', 'admin2', 'viewer2', 'other']) callers.push([name, agent, await of(name)])
    callers.push(['nobody', agent, {}])
    const rows = await around(service, callers, owner)
    await gateway.close()
    const same = (...found: Statuses) => [found, found]
    expect(rows).toEqual({
      owner: same(200, 200),
      owner2: same(200, 200),
      admin2: same(200, 200),
      viewer2: same(403, 200),
      other: [
        [403, 403],
        [402, 402],
      ],
      nobody: [
        [403, 403],
        [402, 402],
      ],
    })
  })

  it('nor to DEV_USER, who needs no entry on the agent "default"', async () => {
    const service = await testApp({
      environment: { ...facilitator.environment, DEV_USER: 'dev@example.com' },
    })
    const [own, foreign] = [await makeAgent(service), await makeAgent(service)]
    const callers: Caller[] = [
      ['on default', 'default', {}],
      ['on default from a page of the service', 'default', { origin: 'http://localhost:80' }],
      ['a page of another site on default', 'default', stranger],
      ['under another name', 'default', { host: 'rebound.example' }],
      ['on an own agent', own, {}],
      ['a page of another site on an own agent', own, stranger],
    ]
    const rows = await around(service, callers)
    const free = [
      [200, 200],
      [200, 200],
    ]
    expect(rows).toEqual({
      'on default': free,
      'on default from a page of the service': free,
      'a page of another site on default': [
        [200, 200],
        [402, 402],
      ],
      'under another name': [
        [200, 200],
        [402, 402],
      ],
      'on an own agent': free,
      'a page of another site on an own agent': [
        [403, 403],
        [402, 402],
      ],
    })
    // Where others own the agent, the developer is one of its buyers.
    await sell(service, `/api/agents/${foreign}`)
    const admins = `/api/agents/${foreign}/admins`
    await giveRole(service, foreign, { email: 'other@example.com', role: 'owner', headers: {} })
    const { body } = await service.call<{ admins: { id: string; email: string }[] }>('GET', admins)
    const entry = body.admins.find(({ email }) => email === 'dev@example.com')
    expect((await service.call('DELETE', `${admins}/${entry?.id}`)).status).toBe(200)
    expect(await statuses(service, ['', foreign, {}])).toEqual([402, 402])
  })
})

describe('a header that pays', () => {
  type Payment = Record<string, unknown> & {
    payload: Record<string, unknown>
    accepted: Record<string, unknown>
  }
  const base64 = (value: unknown) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64')
  const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const search = () => `${path}/sources/search?query=tide`
  let payment: Payment

  async function made(version: 1 | 2): Promise<Payment> {
    const offer = await app.call('GET', search(), { headers: stranger })
    const [header] = Object.values(await paymentFor(offer, { version }))
    return decoded(header) as Payment
  }

  const send = (name: string, value: string) =>
    app.call('GET', search(), { headers: { ...stranger, [name]: value } })

  const authorized = ({ payload }: Payment, changes: object) => ({
    ...payload,
    authorization: { ...Object(payload.authorization), ...changes },
  })

  describe('and can not be read is 400, and the facilitator is not asked', () => {
    beforeEach(async () => {
      payment ??= await made(2)
    })

    it.each<[string, (payment: Payment) => string]>([
      ['is empty', () => ''],
      ['is a word', () => 'paid'],
      ['is no base64', () => '!!!%%%'],
      ['is JSON', payment => JSON.stringify(payment)],
      ['is base64 of base64', payment => base64(base64(payment))],
      ['is cut off', payment => base64(payment).slice(0, 200)],
      ['comes twice', payment => `${base64(payment)}, ${base64(payment)}`],
      ['has a scheme before it', payment => `Bearer ${base64(payment)}`],
      ['is base64 of a word', () => base64('hello')],
      ['is base64 of nothing', () => base64('""')],
      ['is base64 of null', () => base64('null')],
      ['is base64 of a list', payment => base64([payment])],
      ['is base64 of bytes', () => Buffer.from([0xff, 0xfe, 0x00]).toString('base64')],
      ['is base64 of an empty object', () => base64({})],
      ['has no version', ({ x402Version: _, ...others }) => base64(others)],
      ['has a version that is a text', payment => base64({ ...payment, x402Version: '2' })],
      ['has a later version', payment => base64({ ...payment, x402Version: 3 })],
      ['has version 1 and the rest of version 2', payment => base64({ ...payment, x402Version: 1 })],
      ['accepts nothing', ({ accepted: _, ...others }) => base64(others)],
      ['has no payload', payment => base64({ ...payment, payload: null })],
      ['has no signature', payment => base64({ ...payment, payload: { ...payment.payload, signature: 7 } })],
      ['has no nonce', payment => base64({ ...payment, payload: authorized(payment, { nonce: undefined }) })],
      [
        'has a short nonce',
        payment => base64({ ...payment, payload: authorized(payment, { nonce: '0x1' }) }),
      ],
      ['has a fraction', payment => base64({ ...payment, payload: authorized(payment, { value: '1.5' }) })],
      ['has a number', payment => base64({ ...payment, payload: authorized(payment, { value: 100000 }) })],
      ['is negative', payment => base64({ ...payment, payload: authorized(payment, { value: '-1' }) })],
      [
        'is from nobody',
        payment => base64({ ...payment, payload: authorized(payment, { from: 'alice.eth' }) }),
      ],
    ])('if it %s', async (_how, encode) => {
      const calls = facilitator.calls.length
      for (const name of ['payment-signature', 'X-PAYMENT'])
        expect(await send(name, encode(payment))).toMatchObject({
          status: 400,
          body: { error: { code: 'VALIDATION_ERROR', message: /x402 client/ } },
        })
      expect(facilitator.calls).toHaveLength(calls)
    })
  })

  const lower = (value: unknown) => String(value).toLowerCase()
  const upper = (value: unknown) => `0x${String(value).slice(2).toUpperCase()}`

  it.each<[string, 1 | 2, string, (payment: Payment) => string]>([
    ['base64', 2, 'payment-signature', base64],
    ['base64 without padding', 2, 'PAYMENT-SIGNATURE', payment => base64(payment).replaceAll('=', '')],
    ['base64url', 2, 'Payment-Signature', base64url],
    [
      'base64url with padding',
      2,
      'payment-signature',
      payment => `${base64url({ ...payment, extensions: { a: '??>>' } })}==`,
    ],
    ['indented', 2, 'payment-signature', payment => base64(JSON.stringify(payment, null, 2))],
    ['version 2 under the former name', 2, 'x-payment', base64],
    ['version 2 as base64url under the former name', 2, 'X-Payment', base64url],
    ['version 1', 1, 'X-PAYMENT', base64],
    ['version 1 as base64url', 1, 'x-payment', base64url],
    ['version 1 under the new name', 1, 'PAYMENT-SIGNATURE', base64],
    [
      'version 1 with the id of the network',
      1,
      'x-payment',
      payment => base64({ ...payment, network: 'eip155:84532' }),
    ],
    ['without its resource', 2, 'payment-signature', ({ resource: _, ...others }) => base64(others)],
    [
      'addresses in lower case',
      2,
      'payment-signature',
      payment => {
        const { from, to } = Object(payment.payload.authorization)
        const { payTo, asset } = payment.accepted
        const accepted = { ...payment.accepted, payTo: lower(payTo), asset: lower(asset) }
        return base64({
          ...payment,
          accepted,
          payload: authorized(payment, { from: lower(from), to: lower(to) }),
        })
      },
    ],
    [
      'addresses in upper case',
      2,
      'x-payment',
      payment => {
        const { payTo, asset } = payment.accepted
        return base64({
          ...payment,
          accepted: { ...payment.accepted, payTo: upper(payTo), asset: upper(asset) },
        })
      },
    ],
  ])('is read: %s', async (_how, version, name, encode) => {
    const answer = await send(name, encode(await made(version)))
    expect(answer).toMatchObject({ status: 200, body: { results: [] } })
    const receipt = version === 1 ? 'x-payment-response' : 'payment-response'
    expect(decoded(answer.headers[receipt])).toMatchObject({ success: true })
  })
})
