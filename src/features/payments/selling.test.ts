import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { errorRow, row } from '#test/spec/row.ts'
import { makeAgent } from '#test/support/agents.ts'
import { type Answer, buildApp, type CallOptions, type TestApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Facilitator, payTo, startFacilitator } from '#test/support/facilitator.ts'
import { startGateway } from '#test/support/gateway.ts'
import { formOf } from '#test/support/upload.ts'
import { decoded, newWallet, payingFetch, paymentFor } from '#test/support/x402-buyer.ts'
import type { Transaction } from './ledger/ledger.schema.ts'
import type { Resource } from './selling/resources.schema.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
let facilitator: Facilitator
let app: TestApp
let address: string
let owner: Record<string, string>

beforeAll(async () => {
  gateway = await startGateway()
  facilitator = await startFacilitator()
  app = await buildApp({ environment: { ...gateway.environment, ...facilitator.environment } })
  address = await app.listen()
  owner = await gateway.headers('owner@example.com')
})

beforeEach(() => {
  facilitator.mode = 'ok'
  facilitator.modes.length = 0
})

afterAll(async () => {
  await app.close()
  await gateway.close()
  await facilitator[Symbol.asyncDispose]()
})

const forSale = { price: '0.10', currency: 'USDC', network: 'base-sepolia', description: 'An answer' }

async function newShop(...paths: string[]) {
  const id = await makeAgent(app, { headers: owner })
  const path = `/api/agents/${id}`
  const manage = async <Body = Record<string, unknown>>(method: string, rest: string, body?: object) =>
    await app.call<Body>(method, `${path}${rest}`, { headers: owner, ...(body && { body }) })
  for (const one of paths)
    expect((await manage('POST', '/x402-resources', { ...forSale, path: one })).status).toBe(201)
  const transactions = async (query = '') =>
    (await manage<{ transactions: Transaction[] }>('GET', `/transactions?${query}`)).body.transactions
  const ask = (headers: Record<string, string> = {}, content = 'Hello', others: object = {}) =>
    app.call('POST', `${path}/chat`, { headers, body: { content, ...others } })
  return { id, path, manage, transactions, ask }
}

/** The ten seconds that a call may take pass as soon as one hangs. */
function passTimeWhileItHangs(): void {
  let late = new AbortController()
  const timeout = AbortSignal.timeout.bind(AbortSignal)
  const spy = vi
    .spyOn(AbortSignal, 'timeout')
    .mockImplementation(ms => (ms === 10_000 ? AbortSignal.any([late.signal, timeout(ms)]) : timeout(ms)))
  facilitator.hangs = () => {
    late.abort(new DOMException('late', 'TimeoutError'))
    late = new AbortController()
  }
  onTestFinished(() => {
    spy.mockRestore()
    facilitator.hangs = () => {}
  })
}

const served = ({ status }: Answer) => status === 200

describe('resources', () => {
  it(`are sold once by path, listed and deleted ${row('POST /api/agents/{id}/x402-resources')} ${row('GET /api/agents/{id}/x402-resources')} ${row('DELETE /api/agents/{id}/x402-resources/{resourceId}')}`, async () => {
    const { manage } = await newShop()
    const deliver = { body: 'a,b', content_type: 'text/csv' }
    const body = { ...forSale, path: '/reports/daily', deliver }
    const made = await manage<Resource>('POST', '/x402-resources', body)
    expect(made).toMatchObject({ status: 201, body })
    expect(await manage('POST', '/x402-resources', body)).toMatchObject({ status: 409, body: { code: 409 } })
    expect((await manage('GET', '/x402/reports/daily')).body).toBe('a,b')
    const list = await manage('GET', '/x402-resources')
    expect(list.body).toMatchObject({ resources: [made.body], meta: { total: 1 } })
    expect(await manage('GET', '/x402-resources?sort=colour')).toMatchObject({ status: 400 })
    const one = `/x402-resources/${made.body.id}`
    expect(await manage('DELETE', one)).toMatchObject({ status: 200, body: { success: true } })
    expect(await manage('DELETE', one)).toMatchObject({ status: 404, body: { code: 404 } })
  })

  it.each([
    ['price', '0.1000001'],
    ['price', '0'],
    ['price', '0.0000001'],
    ['price', '-1'],
    ['price', '1e3'],
    ['currency', 'EUR'],
    ['network', 'base'],
    ['network', 'moon'],
    ['path', '/transactions'],
    ['path', '/chat/models'],
    ['path', 'chat'],
    ['path', '/a?b'],
  ])('with the %s %s are refused', async (field, value) => {
    const { manage } = await newShop()
    expect(
      await manage('POST', '/x402-resources', { ...forSale, path: '/own', [field]: value }),
    ).toMatchObject({
      status: 400,
      body: { code: 400, details: { field } },
    })
  })
})

describe('a call that is sold', () => {
  it(`tells callers without a role what it costs, in both versions ${errorRow('payments', 402)}`, async () => {
    const { path, ask } = await newShop('/chat')
    const { status, headers, body } = await ask()
    expect(status).toBe(402)
    const common = { scheme: 'exact', payTo, maxTimeoutSeconds: 300, extra: { name: 'USDC', version: '2' } }
    expect(body).toEqual({
      error: expect.any(String),
      code: 402,
      x402Version: 1,
      accepts: [
        {
          ...common,
          network: 'base-sepolia',
          maxAmountRequired: '100000',
          resource: expect.stringMatching(`${path}/chat$`),
          description: 'An answer',
          mimeType: 'application/json',
          asset: expect.any(String),
        },
      ],
    })
    expect(decoded(headers['payment-required'])).toMatchObject({
      x402Version: 2,
      resource: { url: expect.stringMatching(`${path}/chat$`), description: 'An answer' },
      accepts: [{ ...common, network: 'eip155:84532', amount: '100000' }],
    })
  })

  it.each([1, 2] as const)('is bought by the official client of version %i', async version => {
    const { path, transactions } = await newShop('/chat')
    const wallet = newWallet()
    const answer = await payingFetch(version, wallet)(`${address}${path}/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ content: 'Hello' }),
    })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ assistantMessage: { role: 'assistant' } })
    const settlement = answer.headers.get(version === 1 ? 'x-payment-response' : 'payment-response')
    const { transaction } = decoded(settlement)
    expect(decoded(settlement)).toMatchObject({ success: true, payer: wallet.address })
    expect(await transactions('type=x402')).toMatchObject([
      {
        amount: '0.10',
        currency: 'USDC',
        from: wallet.address,
        to: payTo,
        source: 'x402',
        reference: transaction,
        note: '/chat',
      },
    ])
  })

  it('streams as well, with the receipt before the first byte', async () => {
    const { path } = await newShop('/chat')
    const answer = await payingFetch(2)(`${address}${path}/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ content: 'Hello', stream: true }),
    })
    expect(answer.headers.get('content-type')).toContain('text/event-stream')
    expect(decoded(answer.headers.get('payment-response'))).toMatchObject({ success: true })
    expect(await answer.text()).toContain('message_complete')
  })

  it('is free for whoever has a role, and forbidden where it is not sold', async () => {
    const { path, ask, manage } = await newShop('/chat')
    expect((await ask(owner)).status).toBe(200)
    expect((await manage('GET', '/sources/search?query=x')).status).toBe(200)
    expect((await app.call('GET', `${path}/sources/search?query=x`)).status).toBe(403)
    const stranger = await gateway.headers('stranger@example.com')
    expect((await ask(stranger)).status).toBe(402)
    expect((await app.call('GET', `${path}/chat`, { headers: stranger })).status).toBe(403)
    const bad = await gateway.headers('stranger@example.com', { aud: ['other'] })
    expect((await ask(bad)).status).toBe(401)
    expect((await ask({ ...bad, ...(await paymentFor(await ask())) })).status).toBe(401)
  })

  it('may be one that answers again, a search, or a path of its own', async () => {
    const { path, ask, manage } = await newShop('/chat', '/sources/search', '/reports/daily')
    const wallet = newWallet()
    const sent = await ask(await paymentFor(await ask(), { wallet }))
    const { assistantMessage } = sent.body as { assistantMessage: { id: string } }
    const again = `${path}/chat/messages/${assistantMessage.id}/regenerate`
    const bought = async (method: string, url: string, options: CallOptions = {}) => {
      const offer = await app.call(method, url, options)
      expect(offer.status).toBe(402)
      return await app.call(method, url, { ...options, headers: await paymentFor(offer, { wallet }) })
    }
    expect(await bought('POST', again, { body: {} })).toMatchObject({ status: 200 })
    expect(await bought('GET', `${path}/sources/search?query=tide`)).toMatchObject({
      status: 200,
      body: { results: [] },
    })
    const own = await bought('GET', `${path}/x402/reports/daily`)
    expect(own.body).toEqual({
      path: '/reports/daily',
      description: 'An answer',
      receipt: {
        transaction_id: expect.any(String),
        transaction: expect.stringMatching(/^0x/),
        network: 'eip155:84532',
        payer: expect.stringMatching(/^0x/),
      },
    })
    expect((await manage('GET', '/x402/reports/daily')).body).toMatchObject({ receipt: null })
    expect((await manage('GET', '/x402/none')).status).toBe(404)
    expect((await app.call('GET', `${path}/x402/none`)).status).toBe(403)
    expect((await app.call('GET', `${path}/x402/%00`)).status).toBe(403)
    expect((await app.call('GET', '/api/agents/%00/x402/none')).status).toBe(403)
  })

  it('costs nothing where it would be refused anyway', async () => {
    const { ask, transactions } = await newShop('/chat')
    const before = facilitator.settled.length
    const payment = await paymentFor(await ask())
    expect((await ask(payment, '')).status).toBe(400)
    expect((await ask(payment, 'Hello', { conversationId: 'none' })).status).toBe(404)
    await eventually(async () =>
      expect((await ask(payment, 'Hello', { model: 'nobody/none' })).status).toBe(400),
    )
    expect(facilitator.settled).toHaveLength(before)
    await eventually(async () => expect((await ask(payment)).status).toBe(200))
    expect(await transactions()).toHaveLength(1)
  })

  it('takes a form of 1 MiB, as its payment is proven only then', async () => {
    const { path, ask } = await newShop('/chat')
    const payment = await paymentFor(await ask())
    const sent = async (bytes: number) => {
      const { payload, headers } = await formOf([['file', new File(['x'.repeat(bytes)], 'tides.txt')]])
      return await app.call('POST', `${path}/chat`, { payload, headers: { ...headers, ...payment } })
    }
    expect(await sent(1024 * 1024)).toMatchObject({
      status: 413,
      body: { error: 'Callers who pay for a call may send 1 MiB at most, with a Content-Length.' },
    })
    expect((await sent(1000 * 1024)).status).toBe(200)
  })

  it('is not bought by HEAD, nor where its answer would be an error', async () => {
    const { path, transactions } = await newShop('/sources/search')
    const search = `${path}/sources/search?query=tide`
    const headers = await paymentFor(await app.call('GET', search))
    expect((await app.call('HEAD', search, { headers })).status).toBe(402)
    const missing = `${search}&source_id=none`
    const unused = await paymentFor(await app.call('GET', missing))
    expect((await app.call('GET', missing, { headers: unused })).status).toBe(404)
    expect(await transactions('state=settled&state=pending')).toEqual([])
    expect((await app.call('GET', search, { headers })).status).toBe(200)
  })
})

describe('a payment', () => {
  it('is good for the first request that it comes with, and for no other', async () => {
    const [shop, other] = [await newShop('/chat', '/own', '/other'), await newShop('/chat')]
    const payment = await paymentFor(await shop.ask())
    expect(served(await shop.ask(payment))).toBe(true)
    await eventually(async () => expect(await shop.ask(payment)).toMatchObject({ status: 402 }))
    expect((await shop.ask(payment, 'Another question')).status).toBe(402)
    expect((await other.ask(payment)).status).toBe(402)
    // The same, without what says what it is for.
    const bare = { change: (payment: object) => ({ ...payment, resource: undefined }) }
    const unbound = await paymentFor(await app.call('GET', `${shop.path}/x402/own`), bare)
    expect((await app.call('GET', `${shop.path}/x402/other`, { headers: unbound })).status).toBe(200)
    await eventually(async () =>
      expect((await app.call('GET', `${shop.path}/x402/own`, { headers: unbound })).status).toBe(402),
    )
    const named = await paymentFor(await app.call('GET', `${shop.path}/x402/own`))
    expect((await app.call('GET', `${shop.path}/x402/other`, { headers: named })).status).toBe(402)
    expect(new Set(facilitator.settled).size).toBe(facilitator.settled.length)
  })

  type Changed = Record<'accepted' | 'payload', Record<string, Record<string, string>>>
  const changes: [what: string, change: (payment: Changed) => void][] = [
    ['amount', ({ accepted }) => Object.assign(accepted, { amount: '1' })],
    ['value', ({ payload }) => Object.assign(payload.authorization ?? {}, { value: '1' })],
    ['asset', ({ accepted }) => Object.assign(accepted, { asset: payTo })],
    ['network', ({ accepted }) => Object.assign(accepted, { network: 'eip155:8453' })],
    ['scheme', ({ accepted }) => Object.assign(accepted, { scheme: 'upto' })],
    ['recipient', ({ payload }) => Object.assign(payload.authorization ?? {}, { to: `0x${'1'.repeat(40)}` })],
    ['payer', ({ payload }) => Object.assign(payload.authorization ?? {}, { from: `0x${'1'.repeat(40)}` })],
    ['nonce', ({ payload }) => Object.assign(payload.authorization ?? {}, { nonce: `0x${'1'.repeat(64)}` })],
  ]

  it.each(changes)('with another %s is refused', async (_what, change) => {
    const { ask, transactions } = await newShop('/chat')
    const changed = (payment: object) => {
      change(payment as Changed)
      return payment
    }
    expect((await ask(await paymentFor(await ask(), { change: changed }))).status).toBe(402)
    expect(await transactions()).toEqual([])
  })

  it('that has expired is refused, and junk is no payment', async () => {
    const { ask } = await newShop('/chat')
    const expired = await ask(await paymentFor(await ask(), { seconds: 1 }))
    expect(expired).toMatchObject({ status: 402, body: { error: expect.stringContaining('valid_before') } })
    for (const junk of ['', 'x', '{}', Buffer.from('{"x402Version":2}').toString('base64')])
      expect((await ask({ 'payment-signature': junk })).status).toBe(400)
  })

  it('is taken once, however many requests come with it at a time', async () => {
    const { ask, transactions } = await newShop('/chat')
    const before = facilitator.settled.length
    const payment = await paymentFor(await ask())
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(payment)))
    expect(answers.filter(served)).toHaveLength(1)
    for (const { status } of answers) expect([200, 402, 409]).toContain(status)
    expect(facilitator.settled).toHaveLength(before + 1)
    expect(await transactions('state=settled&state=pending&state=failed')).toHaveLength(1)
  })

  it.each(['refuse', 'error with body'] as const)(
    'that the facilitator does not settle (%s) costs nothing, and may be tried again',
    async mode => {
      const { ask, transactions, manage } = await newShop('/chat')
      facilitator.modes.push(mode)
      const payment = await paymentFor(await ask())
      const refused = await ask(payment)
      expect(refused.status).toBe(402)
      expect(decoded(refused.headers['payment-response'])).toMatchObject({ success: false })
      expect(await transactions()).toEqual([])
      expect((await manage('GET', '/chat/conversations')).body).toMatchObject({ conversations: [] })
      expect((await ask(payment)).status).toBe(200)
      expect(await transactions()).toHaveLength(1)
    },
  )

  it.each(['error', 'junk', 'drop', 'pending', 'settle, then drop', 'hang', 'settle, then hang'] as const)(
    'of which nobody knows what came (%s) is not asked for again, and gets its answer once',
    async mode => {
      const { ask, transactions, manage } = await newShop('/chat')
      facilitator.modes.push(mode)
      if (mode.endsWith('hang')) passTimeWhileItHangs()
      const payment = await paymentFor(await ask())
      const open = await ask(payment)
      expect(open).toMatchObject({ status: 409, body: { code: 'PAYMENT_PENDING' } })
      expect(Number(open.headers['retry-after'])).toBeGreaterThan(0)
      expect(await transactions('state=pending')).toHaveLength(1)
      expect((await manage('GET', '/chat/conversations')).body).toMatchObject({ conversations: [] })
      expect((await ask(payment, 'Another')).status).toBe(402)
      if (mode.startsWith('settle')) {
        // The nonce is used: that may have been this payment, or another one of the payer.
        expect((await ask(payment)).status).toBe(409)
        const [pending] = await transactions('state=pending')
        const resolution = { outcome: 'settled', note: 'Seen on the network' }
        expect((await manage('POST', `/transactions/${pending?.id}/resolve`, resolution)).body).toMatchObject(
          {
            state: 'settled',
            note: 'Seen on the network',
          },
        )
      }
      // Its job may be asking right now.
      await eventually(async () => expect((await ask(payment)).status).toBe(200))
      expect(await transactions()).toHaveLength(1)
      await eventually(async () => expect((await ask(payment)).status).toBe(402))
    },
  )

  it('that was settled although its answer got lost is answered as soon as the facilitator says so', async () => {
    const { ask, transactions } = await newShop('/chat')
    facilitator.modes.push('settle, then drop')
    facilitator.remembers = true
    const before = facilitator.settled.length
    const payment = await paymentFor(await ask())
    expect((await ask(payment)).status).toBe(409)
    await eventually(async () => expect((await ask(payment)).status).toBe(200))
    facilitator.remembers = false
    expect(facilitator.settled).toHaveLength(before + 1)
    expect(await transactions()).toHaveLength(1)
    await eventually(async () => expect((await ask(payment)).status).toBe(402))
  })

  it('whose answer fails may ask for it once more', async () => {
    const { ask, manage, transactions } = await newShop('/chat')
    // Nobody listens there.
    const broken = { llm_provider: 'openai-compatible', llm_model: 'x', llm_base_url: 'https://192.0.2.1/v1' }
    await manage('PUT', '/settings', broken)
    await manage('PUT', '/settings', { openai_compatible_api_key: 'sk-nobody-listens' })
    for (const stream of [true, false]) {
      const payment = await paymentFor(await ask({}, 'Hello', { stream }))
      const answers: Answer[] = []
      for (let at = 0; at < 2; at += 1)
        await eventually(async () => {
          const answer = await ask(payment, 'Hello', { stream })
          expect(answer.status).not.toBe(409)
          answers.push(answer)
        })
      for (const { status, body } of answers)
        if (stream) expect(String(body)).toContain('"type":"error"')
        else expect([400, 500]).toContain(status)
      await eventually(async () => expect((await ask(payment, 'Hello', { stream })).status).toBe(402))
    }
    expect(await transactions()).toHaveLength(2)
  })

  it.each(['verify', 'settle'] as const)(
    'whose buyer leaves during %s can be presented again at once',
    async step => {
      const { path, ask, transactions } = await newShop('/chat')
      const payment = await paymentFor(await ask())
      const leaving = new AbortController()
      const gone = Promise.withResolvers<void>()
      app.service.app.server.once('request', ({ socket }) => socket.once('close', gone.resolve))
      facilitator.before = async now => {
        if (now !== step) return
        facilitator.before = () => {}
        leaving.abort()
        await gone.promise
      }
      const left = fetch(`${address}${path}/chat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...payment },
        body: JSON.stringify({ content: 'Hello' }),
        signal: leaving.signal,
      })
      await expect(left).rejects.toThrow()
      await eventually(async () => expect((await ask(payment)).status).toBe(200))
      expect(await transactions('state=settled&state=pending')).toHaveLength(1)
    },
  )

  it('that is refused while a search is answered gets none of its results', async () => {
    const { path, transactions } = await newShop('/sources/search')
    const search = `${path}/sources/search?query=tide`
    const headers = await paymentFor(await app.call('GET', search))
    facilitator.modes.push('refuse')
    const refused = await app.call('GET', search, { headers })
    expect(refused).toMatchObject({
      status: 402,
      body: { code: 402, accepts: [{ resource: expect.any(String) }] },
    })
    expect(refused.body).not.toHaveProperty('results')
    expect(decoded(refused.headers['payment-response'])).toMatchObject({ success: false })
    expect(await transactions()).toEqual([])
  })

  it('whose facilitator can not be asked is not taken', async () => {
    const { ask, transactions } = await newShop('/chat')
    facilitator.verifies = false
    const payment = await paymentFor(await ask())
    expect((await ask(payment)).status).toBe(500)
    facilitator.verifies = true
    await eventually(async () => expect((await ask(payment)).status).toBe(200))
    expect(await transactions()).toHaveLength(1)
  })

  it('may be resolved once, and only while it is open', async () => {
    const { ask, manage, transactions } = await newShop('/chat')
    facilitator.modes.push('drop')
    const payment = await paymentFor(await ask())
    await ask(payment)
    const [pending] = await transactions('state=pending')
    const path = `/transactions/${pending?.id}/resolve`
    expect(await manage('POST', path, { outcome: 'lost', note: 'x' })).toMatchObject({ status: 400 })
    expect(await manage('POST', path, { outcome: 'failed', note: 'Never arrived' })).toMatchObject({
      status: 200,
    })
    expect(await manage('POST', path, { outcome: 'failed', note: 'x' })).toMatchObject({ status: 409 })
    expect(
      await manage('POST', '/transactions/none/resolve', { outcome: 'failed', note: 'x' }),
    ).toMatchObject({ status: 404 })
    // The payment was never made, and so is as new.
    expect((await ask(payment)).status).toBe(200)
  })
})

it('what is sold without a way to be paid is closed', async () => {
  const bare = await buildApp({ environment: gateway.environment })
  const id = await makeAgent(bare, { headers: owner })
  const body = { ...forSale, network: 'base', path: '/chat' }
  expect((await bare.call('POST', `/api/agents/${id}/x402-resources`, { headers: owner, body })).status).toBe(
    201,
  )
  expect(await bare.call('POST', `/api/agents/${id}/chat`, { body: { content: 'Hello' } })).toMatchObject({
    status: 402,
    body: { code: 402, accepts: [] },
  })
  await bare.close()
})
