import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorRow, row } from '#test/spec/row.ts'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { passTime } from '#test/support/pass-time.ts'
import { type PaymentProvider, signatureOf, startPaymentProvider } from '#test/support/payment-provider.ts'
import type { Transaction } from './ledger/ledger.schema.ts'

const secret = 'whsec_of_the_platform'
const apiKey = 'sk_test_platform_4f1c'
const clock = manualClock('2026-11-24T12:00:00.000Z')
let provider: PaymentProvider
let app: TestApp

beforeAll(async () => {
  provider = await startPaymentProvider()
  app = await buildApp({
    clock,
    environment: {
      DEV_USER: 'dev@example.com',
      PROVIDER_API_KEY: apiKey,
      PROVIDER_API_BASE: provider.url,
      PROVIDER_WEBHOOK_SECRET: secret,
    },
  })
})

afterAll(async () => {
  await app.close()
  await provider[Symbol.asyncDispose]()
})

async function newAgent() {
  const id = await makeAgent(app)
  const path = `/api/agents/${id}`
  const call = async <Body = Record<string, unknown>>(
    method: string,
    rest: string,
    body?: object,
    headers = {},
  ) => await app.call<Body>(method, `${path}${rest}`, { headers, ...(body && { body }) })
  const transactions = async (query = '') =>
    (await call<{ transactions: Transaction[] }>('GET', `/transactions?${query}`)).body.transactions
  const send = (event: object, signature?: string) => {
    const payload = JSON.stringify(event)
    const signed = { 'provider-signature': signature ?? signatureOf(payload, secret, clock.now()) }
    return app.call('POST', `${path}/provider/webhook`, {
      payload,
      headers: { 'content-type': 'application/json', ...signed },
    })
  }
  return { id, call, transactions, send }
}

const order = { amount: 1999, currency: 'usd', description: 'Advice' }
const addresses = { success_url: 'https://shop.test/paid', cancel_url: 'https://shop.test/left' }
const charge = { ...order, card_id: 'card_1' }

let events = 0
function event(type: string, object: object): object {
  events += 1
  const id = `evt_${events}`
  return { id, object: 'event', type, data: { object } }
}

/** The kinds of messages about one payment of 19.99, each at a second. */
function lifeOf(intent: string, metadata: object = {}) {
  const at = (created: number, message: object) => ({ ...message, created })
  const of = { payment_intent: intent, charge: `ch_${intent}`, currency: 'usd' }
  return {
    paid: (created: number) => at(created, charged(intent, { metadata })),
    authorized: (created: number) =>
      at(created, charged(intent, { metadata, captured: false, amount_captured: 0 })),
    captured: (created: number, amount_captured: number) =>
      at(created, charged(intent, { metadata, amount_captured }, 'charge.captured')),
    refunded: (created: number, amount_refunded: number, type = 'charge.refunded') =>
      at(created, charged(intent, { metadata, amount_refunded }, type)),
    refund: (created: number, type: string, id: string, amount: number, status: string) =>
      at(created, event(type, { ...of, id, amount, status, created: Math.min(created, 10) })),
    dispute: (created: number, type: string, status: string, amount = 1999) =>
      at(created, event(`charge.dispute.${type}`, { ...of, id: `du_${intent}`, amount, status })),
    session: (created: number, type: string, others: object) => ({
      ...at(created, session(intent, { metadata, ...others })),
      type: `checkout.session.${type}`,
    }),
  }
}

function session(intent: string, others: object = {}) {
  const paid = { mode: 'payment', payment_status: 'paid', amount_total: 1999, currency: 'usd', metadata: {} }
  return event('checkout.session.completed', {
    id: `cs_${intent}`,
    payment_intent: intent,
    ...paid,
    ...others,
  })
}

function charged(intent: string, others: object = {}, type = 'charge.succeeded') {
  const paid = { amount: 1999, amount_captured: 1999, amount_refunded: 0, currency: 'usd', captured: true }
  return event(type, { id: `ch_${intent}`, payment_intent: intent, metadata: {}, ...paid, ...others })
}

describe('a checkout', () => {
  it(`is made at the provider, and its payment becomes a transaction ${row('POST /api/agents/{id}/provider/checkout')}`, async () => {
    const { call, transactions, send } = await newAgent()
    const key = { 'idempotency-key': 'order-1' }
    const made = await call('POST', '/provider/checkout', { ...order, ...addresses }, key)
    expect(made).toMatchObject({
      status: 200,
      body: { session_id: expect.stringMatching(/^cs_/), status: 'open' },
    })
    expect(made.body.url).toContain('https://pay.test/')
    const [pending] = await transactions('state=pending')
    expect(pending).toMatchObject({ amount: '19.99', currency: 'USD', type: 'inbound', source: 'provider' })
    const sent = provider.calls.at(-1)
    expect(sent).toMatchObject({
      authorization: `Bearer ${apiKey}`,
      form: {
        mode: 'payment',
        'line_items[0][price_data][unit_amount]': '1999',
        'metadata[transaction_id]': pending?.id,
        'payment_intent_data[metadata][transaction_id]': pending?.id,
        success_url: addresses.success_url,
      },
    })
    const metadata = { transaction_id: pending?.id }
    expect(
      (await send(session('pi_1', { metadata, customer_details: { email: 'ann@example.com' } }))).status,
    ).toBe(200)
    expect(await transactions()).toMatchObject([
      { id: pending?.id, state: 'settled', from: 'ann@example.com' },
    ])
    const again = await call('POST', '/provider/checkout', { ...order, ...addresses }, key)
    expect(again.body).toEqual({ ...made.body, status: 'complete' })
  })

  it('needs all of its fields', async () => {
    const { call } = await newAgent()
    for (const field of ['amount', 'currency', 'description', 'success_url', 'cancel_url'])
      expect(
        await call('POST', '/provider/checkout', { ...order, ...addresses, [field]: undefined }),
      ).toMatchObject({
        status: 400,
        body: { code: 400, details: { field } },
      })
    for (const wrong of [{ amount: 0 }, { amount: 1.5 }, { currency: 'dollars' }, { success_url: 'ftp://x' }])
      expect(await call('POST', '/provider/checkout', { ...order, ...addresses, ...wrong })).toMatchObject({
        status: 400,
      })
  })
})

describe('a charge', () => {
  it(`is one transaction, also when its event comes ${row('POST /api/agents/{id}/provider/charge')}`, async () => {
    const { call, transactions, send } = await newAgent()
    const { status, body } = await call('POST', '/provider/charge', charge)
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { charge_id: expect.stringMatching(/^ch_/), amount: 1999, currency: 'usd', status: 'succeeded' },
    })
    expect(provider.calls.at(-1)?.form).toMatchObject({ source: 'card_1', amount: '1999' })
    expect(await transactions()).toMatchObject([
      { id: body.transaction_id, amount: '19.99', state: 'settled' },
    ])
    await send(event('charge.succeeded', provider.charges.get(String(body.charge_id)) ?? {}))
    expect(await transactions()).toHaveLength(1)
  })

  it(`that is refused says why, and costs nothing ${errorRow('payments', 422)}`, async () => {
    const { call, transactions } = await newAgent()
    const declined = {
      type: 'card_error',
      code: 'card_declined',
      decline_code: 'lost_card',
      message: 'Declined.',
    }
    provider.next({ status: 402, error: declined })
    expect(await call('POST', '/provider/charge', charge)).toMatchObject({
      status: 422,
      body: {
        code: 422,
        details: { code: 'card_declined', decline_code: 'lost_card', message: 'Declined.' },
      },
    })
    expect(await call('POST', '/provider/charge', { ...charge, card_id: 'card_missing' })).toMatchObject({
      status: 422,
      body: { details: { code: 'resource_missing' } },
    })
    provider.next({
      status: 401,
      error: { type: 'invalid_request_error', message: `Invalid API Key: ${apiKey}` },
    })
    const unauthorized = await call('POST', '/provider/charge', charge)
    expect(unauthorized).toMatchObject({ status: 422, body: { details: { code: 'invalid_api_key' } } })
    expect(JSON.stringify(unauthorized.body)).not.toContain(apiKey.slice(0, 12))
    expect(await transactions()).toEqual([])
    expect(await transactions('state=failed')).toHaveLength(3)
  })

  it.each(['drop', 'lose'] as const)(
    `whose answer is lost (%s) stays open until it is known, and is made once ${errorRow('payments', 500)}`,
    async mishap => {
      const { call, transactions } = await newAgent()
      const before = provider.charges.size
      provider.next(mishap, mishap, mishap)
      const lost = await call('POST', '/provider/charge', charge)
      expect(lost).toMatchObject({ status: 500, body: { code: 500 } })
      expect(lost.body.error).toContain('outcome is open')
      expect(await transactions('state=pending')).toHaveLength(1)
      await passTime(app, clock, 61_000)
      await eventually(async () => expect(await transactions()).toMatchObject([{ state: 'settled' }]))
      expect(provider.charges.size).toBe(before + 1)
    },
  )

  it('whose answer is lost did not fail because asking again is refused', async () => {
    const { call, transactions } = await newAgent()
    const before = provider.charges.size
    const refusals = [401, 403, 429].map(status => ({ status, error: { message: 'Not now' } }))
    const headers = { 'idempotency-key': 'refused-later' }
    provider.next('lose', 'lose', 'lose', ...refusals)
    for (let at = 0; at <= refusals.length; at += 1)
      expect((await call('POST', '/provider/charge', charge, headers)).status).toBe(500)
    expect(await transactions('state=failed')).toEqual([])
    expect((await call('POST', '/provider/charge', charge, headers)).status).toBe(200)
    expect(await transactions()).toHaveLength(1)
    expect(provider.charges.size).toBe(before + 1)
  })

  it('whose answer is lost is settled by its event as well, and stays one', async () => {
    const { call, transactions, send } = await newAgent()
    const before = provider.charges.size
    provider.next('lose', 'lose', 'lose')
    await call('POST', '/provider/charge', charge, { 'idempotency-key': 'lost' })
    const made = [...provider.charges.values()].at(-1) ?? {}
    await send(event('charge.succeeded', made))
    expect(await transactions()).toMatchObject([{ state: 'settled' }])
    expect(await call('POST', '/provider/charge', charge, { 'idempotency-key': 'lost' })).toMatchObject({
      status: 200,
      body: { charge_id: made.id },
    })
    expect(provider.charges.size).toBe(before + 1)
    expect(await transactions()).toHaveLength(1)
  })

  it('under a key of the caller is made once a day', async () => {
    const { call, transactions } = await newAgent()
    const headers = { 'idempotency-key': 'once' }
    const first = await call('POST', '/provider/charge', charge, headers)
    const both = await Promise.all([1, 2].map(() => call('POST', '/provider/charge', charge, headers)))
    for (const { body } of both) expect(body).toEqual(first.body)
    expect(await call('POST', '/provider/charge', { ...charge, amount: 1 }, headers)).toMatchObject({
      status: 409,
    })
    expect(await transactions()).toHaveLength(1)
    clock.advance(25 * 3_600_000)
    expect((await call('POST', '/provider/charge', charge, headers)).body.charge_id).not.toBe(
      first.body.charge_id,
    )
    const parallel = await Promise.all(
      [1, 2, 3].map(() => call('POST', '/provider/charge', charge, { 'idempotency-key': 'at once' })),
    )
    for (const { status } of parallel) expect(status).toBe(400)
    const together = await Promise.all(
      [1, 2, 3].map(() => call('POST', '/provider/charge', charge, { 'idempotency-key': 'together' })),
    )
    expect(new Set(together.map(({ body }) => body.charge_id)).size).toBe(1)
  })
})

describe('a refund', () => {
  it('is made in parts, by charge or transaction, and changes what the transaction says', async () => {
    const { call, transactions, send } = await newAgent()
    const { body } = await call('POST', '/provider/charge', charge)
    const part = await call('POST', '/provider/refund', { charge_id: body.charge_id, amount: 999 })
    expect(part).toMatchObject({ status: 200, body: { amount: 999, status: 'succeeded' } })
    expect(await transactions()).toMatchObject([{ amount: '19.99', refunded: '9.99', state: 'settled' }])
    const sums = await call<{ summary: object[] }>('GET', '/transactions/summary')
    expect(sums.body.summary).toMatchObject([{ amount: '19.99', refunded: '9.99' }])
    expect((await call('POST', '/provider/refund', { transaction_id: body.transaction_id })).status).toBe(200)
    expect(await transactions()).toEqual([])
    expect(await transactions('state=refunded')).toMatchObject([{ refunded: '19.99' }])
    expect(await call('POST', '/provider/refund', { charge_id: body.charge_id })).toMatchObject({
      status: 422,
    })
    // The event of the first part comes late.
    const charged = { ...provider.charges.get(String(body.charge_id)), amount_refunded: 999 }
    await send(event('charge.refunded', charged))
    expect(await transactions('state=refunded')).toMatchObject([{ refunded: '19.99' }])
  })

  it('needs one payment', async () => {
    const { call } = await newAgent()
    expect(await call('POST', '/provider/refund', {})).toMatchObject({ status: 400 })
    expect(await call('POST', '/provider/refund', { transaction_id: 'none' })).toMatchObject({ status: 404 })
    await call('POST', '/provider/checkout', { ...order, ...addresses })
    const { body } = await call<{ transactions: Transaction[] }>('GET', '/transactions?state=pending')
    const unpaid = { transaction_id: body.transactions[0]?.id }
    expect(await call('POST', '/provider/refund', unpaid)).toMatchObject({ status: 409 })
  })
})

describe('what becomes of a payment', () => {
  type Life = ReturnType<typeof lifeOf>

  it.each<[name: string, messages: (of: Life) => object[], state: string, refunded: string, amount?: string]>(
    [
      ['paid', of => [of.paid(1)], 'settled', '0.00'],
      ['refunded', of => [of.paid(1), of.refunded(10, 1999)], 'refunded', '19.99'],
      [
        'refunded in part, twice',
        of => [of.paid(1), of.refunded(10, 500), of.refunded(20, 1200)],
        'settled',
        '12.00',
      ],
      [
        'refunded, which fails',
        of => [of.paid(1), of.refunded(10, 1999), of.refund(20, 'refund.failed', 're_1', 1999, 'failed')],
        'settled',
        '0.00',
      ],
      [
        'refunded, which fails, told three times',
        of => [
          of.paid(1),
          of.refunded(10, 1999),
          of.refund(20, 'refund.failed', 're_1', 1999, 'failed'),
          of.refund(20, 'charge.refund.updated', 're_1', 1999, 'failed'),
          of.refunded(20, 0, 'charge.updated'),
        ],
        'settled',
        '0.00',
      ],
      [
        'refunded twice in part, of which one is cancelled',
        of => [of.paid(1), of.refunded(10, 1200), of.refund(20, 'refund.updated', 're_1', 500, 'canceled')],
        'settled',
        '7.00',
      ],
      [
        'refunded, which fails, and refunded in part again',
        of => [
          of.paid(1),
          of.refunded(10, 1999),
          of.refund(20, 'refund.failed', 're_1', 1999, 'failed'),
          of.refunded(30, 500),
        ],
        'settled',
        '5.00',
      ],
      [
        'refunded, as the refund alone says',
        of => [
          of.paid(1),
          of.refund(10, 'refund.created', 're_1', 500, 'pending'),
          of.refund(30, 'refund.updated', 're_1', 500, 'succeeded'),
        ],
        'settled',
        '5.00',
      ],
      [
        'refunded twice, of which one fails, as the refunds alone say',
        of => [
          of.paid(1),
          of.refund(10, 'refund.created', 're_1', 500, 'succeeded'),
          of.refund(10, 'refund.created', 're_2', 300, 'pending'),
          of.refund(30, 'refund.failed', 're_2', 300, 'failed'),
        ],
        'settled',
        '5.00',
      ],
      [
        'refunds that are together more than was paid',
        of => [
          of.paid(1),
          of.refund(10, 'refund.created', 're_1', 1200, 'succeeded'),
          of.refund(10, 'refund.created', 're_2', 1200, 'succeeded'),
        ],
        'settled',
        '12.00',
      ],
      [
        'captured in part, refunded in part, and disputed',
        of => [
          of.captured(1, 1000),
          of.refund(10, 'refund.created', 're_1', 400, 'succeeded'),
          of.dispute(20, 'created', 'needs_response', 600),
        ],
        'disputed',
        '4.00',
        '10.00',
      ],
      [
        'captured twice, and refunded by more than the first',
        of => [
          of.captured(1, 1000),
          of.refund(10, 'refund.created', 're_1', 1500, 'succeeded'),
          of.captured(8, 1999),
        ],
        'settled',
        '15.00',
      ],
      ['refunded by more than was paid', of => [of.paid(1), of.refunded(10, 2500)], 'settled', '0.00'],
      [
        'a refund of more than was paid',
        of => [of.paid(1), of.refund(10, 'refund.created', 're_1', 2500, 'succeeded')],
        'settled',
        '0.00',
      ],
      ['disputed', of => [of.paid(1), of.dispute(10, 'created', 'needs_response')], 'disputed', '0.00'],
      [
        'disputed, and lost',
        of => [of.paid(1), of.dispute(10, 'created', 'needs_response'), of.dispute(20, 'closed', 'lost')],
        'disputed',
        '0.00',
      ],
      [
        'disputed, and won',
        of => [
          of.paid(1),
          of.dispute(10, 'created', 'needs_response'),
          of.dispute(15, 'updated', 'under_review'),
          of.dispute(20, 'closed', 'won'),
        ],
        'settled',
        '0.00',
      ],
      [
        'enquired about',
        of => [of.paid(1), of.dispute(10, 'created', 'warning_needs_response')],
        'settled',
        '0.00',
      ],
      [
        'disputed by more than was paid',
        of => [of.paid(1), of.dispute(10, 'created', 'needs_response', 5000)],
        'settled',
        '0.00',
      ],
      ['authorized, then captured', of => [of.authorized(1), of.captured(5, 1999)], 'settled', '0.00'],
      ['captured in part', of => [of.authorized(1), of.captured(5, 900)], 'settled', '0.00', '9.00'],
      ['captured in two parts', of => [of.captured(5, 900), of.captured(6, 1999)], 'settled', '0.00'],
      [
        'paid by a debit that arrives later',
        of => [
          of.session(1, 'completed', { payment_status: 'unpaid' }),
          of.session(9, 'async_payment_succeeded', {}),
        ],
        'settled',
        '0.00',
      ],
      [
        'bounced',
        of => [
          of.session(1, 'completed', { payment_status: 'unpaid' }),
          of.session(9, 'async_payment_failed', { payment_status: 'unpaid' }),
        ],
        'failed',
        '0.00',
      ],
      [
        'bounced, and paid after all',
        of => [of.session(9, 'async_payment_failed', { payment_status: 'unpaid' }), of.paid(20)],
        'settled',
        '0.00',
      ],
      [
        'expired',
        of => [of.session(9, 'expired', { payment_status: 'unpaid', payment_intent: null })],
        'failed',
        '0.00',
      ],
    ],
  )(
    '%s: the order of the messages makes no difference',
    async (name, messages, state, refunded, amount = '19.99') => {
      const { call, transactions, send } = await newAgent()
      const every = 'state=pending&state=settled&state=failed&state=refunded&state=disputed'
      const orders = [
        (all: object[]) => all,
        (all: object[]) => all.toReversed(),
        ([first = {}, ...rest]: object[]) => [...rest, first],
      ]
      for (const [at, order1] of orders.entries()) {
        await call('POST', '/provider/checkout', { ...order, ...addresses, description: `${name} ${at}` })
        const own = (await transactions(every)).find(({ note }) => note === `${name} ${at}`)
        for (const message of order1(messages(lifeOf(`pi_${name}_${at}`, { transaction_id: own?.id }))))
          expect((await send(message)).status).toBe(200)
        expect((await call('GET', `/transactions/${own?.id}`)).body, order1.toString()).toMatchObject({
          state,
          refunded,
          amount,
        })
      }
      expect(await transactions(every)).toHaveLength(3)
    },
  )

  it('of a payment that is not known is no payment', async () => {
    const { transactions, send } = await newAgent()
    const of = lifeOf('pi_strange')
    for (const message of [
      of.session(1, 'expired', { payment_status: 'unpaid' }),
      of.refund(10, 'refund.failed', 're_1', 5, 'failed'),
      of.dispute(10, 'created', 'needs_response'),
    ])
      expect((await send(message)).status).toBe(200)
    expect(
      await transactions('state=pending&state=settled&state=failed&state=refunded&state=disputed'),
    ).toEqual([])
  })
})

describe('cards', () => {
  it(`are listed with their smallest limit ${row('GET /api/agents/{id}/provider/cards')}`, async () => {
    const { call } = await newAgent()
    const card = {
      object: 'issuing.card',
      last4: '4242',
      brand: 'Visa',
      status: 'active',
      created: 1_700_000_000,
    }
    const limits = [[], [{ amount: 500 }, { amount: 200 }], null]
    for (let at = 0; at < 103; at += 1)
      provider.cards.push({
        ...card,
        id: `ic_${at}`,
        spending_controls: { spending_limits: limits[at] ?? [] },
      })
    const { status, body } = await call<{ cards: object[]; meta: object }>('GET', '/provider/cards?limit=2')
    expect(status).toBe(200)
    expect(body.meta).toMatchObject({ total: 103, has_more: true })
    expect(body.cards).toEqual([
      {
        id: 'ic_0',
        last4: '4242',
        brand: 'Visa',
        status: 'active',
        spending_limit: null,
        created_at: '2023-11-14T22:13:20.000Z',
      },
      {
        id: 'ic_1',
        last4: '4242',
        brand: 'Visa',
        status: 'active',
        spending_limit: 200,
        created_at: '2023-11-14T22:13:20.000Z',
      },
    ])
    provider.next({ status: 502, text: '<html>' }, 'drop')
    expect((await call('GET', '/provider/cards')).status).toBe(200)
    provider.next({ status: 429, error: { code: 'rate_limit', message: 'Slow down' } })
    expect(await call('GET', '/provider/cards')).toMatchObject({
      status: 422,
      body: { details: { code: 'rate_limit' } },
    })
    provider.next('drop', 'drop', 'drop')
    expect(await call('GET', '/provider/cards')).toMatchObject({ status: 500, body: { code: 500 } })
    expect(await call('GET', '/provider/cards?sort=colour')).toMatchObject({ status: 400 })
  })
})

it(`without credentials nothing is asked ${errorRow('payments', 401)}`, async () => {
  const bare = await buildApp({
    environment: { DEV_USER: 'dev@example.com', PROVIDER_API_BASE: provider.url },
  })
  const path = `/api/agents/${await makeAgent(bare)}`
  const asked = [
    ['GET', '/provider/cards'],
    ['POST', '/provider/charge', charge],
    ['POST', '/provider/checkout', { ...order, ...addresses }],
  ] as const
  for (const [method, rest, body] of asked)
    expect(await bare.call(method, `${path}${rest}`, { body })).toMatchObject({
      status: 401,
      body: { code: 401 },
    })
  expect(await bare.call('POST', `${path}/provider/webhook`, { body: session('pi_0') })).toMatchObject({
    status: 401,
  })
  await bare.call('PUT', `${path}/settings`, { body: { provider_api_key: 'sk_of_the_agent' } })
  expect(await bare.call('POST', `${path}/provider/charge`, { body: charge })).toMatchObject({ status: 200 })
  expect(provider.calls.at(-1)?.authorization).toBe('Bearer sk_of_the_agent')
  await bare.close()
})

describe(`an event of the provider ${row('POST /api/agents/{id}/provider/webhook')}`, () => {
  it('has its effect once, however often and in whatever order it comes', async () => {
    for (const order of [
      [session('pi_a'), charged('pi_a')],
      [charged('pi_b'), session('pi_b')],
    ]) {
      const { transactions, send } = await newAgent()
      for (const one of [...order, ...order]) expect((await send(one)).status).toBe(200)
      expect(await transactions()).toMatchObject([{ amount: '19.99', currency: 'USD', state: 'settled' }])
    }
    const { transactions, send } = await newAgent()
    const all = [session('pi_c'), charged('pi_c'), session('pi_c'), charged('pi_d')]
    await Promise.all([...all, ...all].map(one => send(one)))
    expect((await transactions()).map(({ reference }) => reference).toSorted()).toEqual(['pi_c', 'pi_d'])
  })

  it('counts what was paid, in the decimals of its currency', async () => {
    const { transactions, send } = await newAgent()
    await send(session('pi_e', { payment_status: 'unpaid' }))
    await send(
      session('pi_f', {
        mode: 'setup',
        payment_intent: null,
        amount_total: null,
        payment_status: 'no_payment_required',
      }),
    )
    await send(charged('pi_g', { captured: false }))
    await send(event('plan.created', { id: 'plan_1', amount: 5 }))
    expect(await transactions()).toEqual([])
    for (const [currency, amount] of Object.entries({ jpy: 500, kwd: 1250, isk: 500, eur: 5 }))
      await send(charged(`pi_${currency}`, { currency, amount, amount_captured: amount }))
    const found = await transactions('sort=currency&order=asc')
    expect(found.map(({ amount, currency }) => `${amount} ${currency}`)).toEqual([
      '0.05 EUR',
      '5 ISK',
      '500 JPY',
      '1.250 KWD',
    ])
  })

  it('counts what was paid in another currency than was asked for as what it is', async () => {
    const { call, transactions, send } = await newAgent()
    await call('POST', '/provider/checkout', { ...order, ...addresses })
    const [asked] = await transactions('state=pending')
    const metadata = { transaction_id: asked?.id }
    await send(charged('pi_local', { amount: 3000, amount_captured: 3000, currency: 'jpy', metadata }))
    expect(await transactions()).toMatchObject([{ id: asked?.id, amount: '3000', currency: 'JPY' }])
  })

  it('of a payment that another agent asked for is no income of this one', async () => {
    const [one, other] = [await newAgent(), await newAgent()]
    const { body } = await one.call('POST', '/provider/charge', charge)
    const made = event('charge.succeeded', provider.charges.get(String(body.charge_id)) ?? {})
    for (const { send } of [one, other]) expect((await send(made)).status).toBe(200)
    expect(await one.transactions()).toHaveLength(1)
    expect(await other.transactions('state=settled&state=pending')).toEqual([])
  })

  it('for another transaction than it names does not change that', async () => {
    const { call, transactions, send } = await newAgent()
    const { body } = await call('POST', '/provider/charge', charge)
    await send(
      charged('pi_h', { amount: 1, amount_captured: 1, metadata: { transaction_id: body.transaction_id } }),
    )
    expect((await transactions('sort=amount')).map(({ amount }) => amount)).toEqual(['0.01', '19.99'])
  })

  it('is believed for its signature alone', async () => {
    const { transactions, send } = await newAgent()
    const forged = session('pi_i')
    const text = JSON.stringify(forged)
    const wrong = [
      '',
      't=1',
      signatureOf(text, 'another secret', clock.now()),
      signatureOf(`${text} `, secret, clock.now()),
      signatureOf(text, secret, clock.now() - 301_000),
      signatureOf(text, secret, clock.now() + 302_000),
    ]
    for (const signature of wrong)
      expect(await send(forged, signature)).toMatchObject({ status: 401, body: { code: 401 } })
    expect(await transactions()).toEqual([])
    const several = `${signatureOf(text, 'old', clock.now())},v1=${signatureOf(text, secret, clock.now()).split('v1=')[1]}`
    expect((await send(forged, several)).status).toBe(200)
    expect(await app.call('POST', '/api/agents/none/provider/webhook', { body: forged })).toMatchObject({
      status: 401,
    })
    const noJson = { payload: '{', headers: { 'provider-signature': signatureOf('{', secret, clock.now()) } }
    const { id } = await newAgent()
    expect(await app.call('POST', `/api/agents/${id}/provider/webhook`, noJson)).toMatchObject({
      status: 400,
    })
  })

  it('is signed with the secret of the agent, if that has one', async () => {
    const { call, transactions, send } = await newAgent()
    await call('PUT', '/settings', { provider_webhook_secret: 'whsec_of_the_agent' })
    const paid = session('pi_j')
    expect((await send(paid)).status).toBe(401)
    expect(
      (await send(paid, signatureOf(JSON.stringify(paid), 'whsec_of_the_agent', clock.now()))).status,
    ).toBe(200)
    expect(await transactions()).toHaveLength(1)
  })

  it.each([
    [undefined, false],
    [{ mode: 'approve' }, true],
    [{ mode: 'decline' }, false],
    [{ mode: 'limit', max_amount: 1000 }, true],
    [{ mode: 'limit', max_amount: 999 }, false],
    [{ mode: 'limit' }, false],
  ])('that asks for approval with the setting %j is answered %s', async (issuing_approval, approved) => {
    const { call, send } = await newAgent()
    if (issuing_approval !== undefined) await call('PUT', '/settings', { issuing_approval })
    const asked = event('issuing_authorization.request', {
      amount: 0,
      pending_request: { amount: 1000, currency: 'usd' },
    })
    const { status, headers, body } = await send(asked)
    expect({ status, body }).toEqual({ status: 200, body: { approved } })
    expect(headers['stripe-version']).toBeDefined()
    await call('PUT', '/settings', { issuing_approval: { mode: approved ? 'decline' : 'approve' } })
    expect((await send(asked)).body).toEqual({ approved })
  })

  it('tells subscribers of what came in, once', async () => {
    const { id, send } = await newAgent()
    const received: unknown[] = []
    const { agentDatabases, handlers } = app.service.infrastructure
    handlers.set('event:test', {
      lane: 'deliveries',
      run: async ({ payload }) => void received.push((payload as { payload: unknown }).payload),
    })
    const subscription = { event: 'payment.received', kind: 'test', ref: '1' }
    await agentDatabases.use(id, ({ db }) =>
      db.insertInto('event_subscriptions').values(subscription).execute(),
    )
    await send(session('pi_k'))
    await send(charged('pi_k'))
    await app.service.infrastructure.runner.idle()
    expect(received).toEqual([{ agent_id: id, transaction_id: expect.any(String) }])
  })
})
