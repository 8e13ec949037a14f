import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorRow, row } from '#test/spec/row.ts'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { startGateway } from '#test/support/gateway.ts'
import type { Transaction } from './ledger/ledger.schema.ts'
import type { Method } from './methods/methods.schema.ts'
import type { Notification } from './notifications/notifications.schema.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
let app: TestApp
let owner: Record<string, string>

beforeAll(async () => {
  gateway = await startGateway()
  app = await buildApp({ environment: gateway.environment })
  owner = await gateway.headers('owner@example.com')
})

afterAll(async () => {
  await app.close()
  await gateway.close()
})

async function newAgent() {
  const path = `/api/agents/${await makeAgent(app, { headers: owner })}`
  const call = async <Body = Record<string, unknown>>(
    method: string,
    rest: string,
    body?: object,
    headers = owner,
  ) => await app.call<Body>(method, `${path}${rest}`, { headers, ...(body && { body }) })
  const notify = async (message: string) =>
    (await call<Notification>('POST', '/payment-notifications', { gateway: 'sms', message })).body
  /** Income of an amount such as `20.00 EUR`. */
  const receive = async (money: string, reference = 'none') => {
    const { id } = await notify(`You received ${money} from Ann. Ref ${reference}`)
    return (await call<Notification>('POST', `/payment-notifications/${id}/record`)).body
  }
  return { path, call, notify, receive }
}

interface TransactionList {
  transactions: Transaction[]
  total: number
  meta: { total: number; has_more: boolean }
}

describe('transactions', () => {
  it(`are listed, filtered, sorted and read ${row('GET /api/agents/{id}/transactions')}`, async () => {
    const { call, receive } = await newAgent()
    for (const money of ['9.50 EUR', '1000 EUR', '20.00 GBP', '12000 JPY']) await receive(money)
    const list = async (query: string) => (await call<TransactionList>('GET', `/transactions?${query}`)).body
    const all = await list('sort=amount&order=asc')
    expect(all).toMatchObject({ total: 4, meta: { total: 4 } })
    expect(all.transactions.map(({ amount, currency }) => `${amount} ${currency}`)).toEqual([
      '9.50 EUR',
      '20.00 GBP',
      '1000.00 EUR',
      '12000 JPY',
    ])
    expect((await list('currency=eur&type=inbound')).total).toBe(2)
    expect((await list('type=x402')).total).toBe(0)
    expect((await list('state=pending&state=settled')).total).toBe(4)
    expect((await list('state=pending')).total).toBe(0)
    const page = await list('limit=3&cursor=')
    expect(page.meta).toMatchObject({ total: 4, has_more: true })
    const [first] = all.transactions
    expect((await call('GET', `/transactions/${first?.id}`)).body).toEqual(first)
    expect(first).toMatchObject({ from: 'Ann', source: 'notification', state: 'settled', refunded: '0.00' })
  })

  it(`are asked for rightly ${errorRow('payments', 400)} ${errorRow('payments', 404)}`, async () => {
    const { call } = await newAgent()
    for (const query of ['type=gift', 'state=lost', 'sort=colour', 'limit=0', 'from=yesterday'])
      expect(await call('GET', `/transactions?${query}`)).toMatchObject({ status: 400, body: { code: 400 } })
    expect(await call('GET', '/transactions/none')).toEqual(
      expect.objectContaining({ status: 404, body: { error: 'Transaction not found', code: 404 } }),
    )
  })

  it('sum up to what the list holds, in every currency', async () => {
    const { call, receive } = await newAgent()
    for (const money of ['0.10 EUR', '0.20 EUR', '0.20 EUR', '1.250 KWD', '0.125 KWD', '7 JPY'])
      await receive(money)
    const { body } = await call<{ summary: object[] }>('GET', '/transactions/summary')
    expect(body.summary).toEqual([
      { period: null, type: 'inbound', currency: 'EUR', count: 3, amount: '0.50', refunded: '0.00' },
      { period: null, type: 'inbound', currency: 'JPY', count: 1, amount: '7', refunded: '0' },
      { period: null, type: 'inbound', currency: 'KWD', count: 2, amount: '1.375', refunded: '0.000' },
    ])
    const today = new Date().toISOString()
    const daily = await call<{ summary: { period: string }[] }>('GET', '/transactions/summary?group=day')
    expect(new Set(daily.body.summary.map(({ period }) => period))).toEqual(new Set([today.slice(0, 10)]))
    const monthly = await call<{ summary: { period: string }[] }>('GET', '/transactions/summary?group=month')
    expect(monthly.body.summary[0]?.period).toBe(today.slice(0, 7))
    expect((await call('GET', '/transactions/summary?to=2020-01-01')).body).toEqual({ summary: [] })
  })

  it('leave as a CSV file without formulas', async () => {
    const { call, receive } = await newAgent()
    await receive('5.00 EUR', '=HYPERLINK')
    const { headers, body } = await call<string>('GET', '/transactions/export?format=csv')
    expect(headers['content-type']).toContain('text/csv')
    const [head, line, end] = String(body).split('\r\n')
    expect(head).toBe('\ufeffid,created_at,type,amount,currency,refunded,from,to,reference,source,state,note')
    expect(line).toMatch(/,inbound,5.00,EUR,0.00,Ann,,/)
    expect(end).toBe('')
    expect((await call<string>('GET', '/transactions/export?to=2020-01-01')).body.split('\r\n')).toHaveLength(
      2,
    )
  })
})

describe('payment methods', () => {
  const wallet = { address: '0x857b06519E91e3A54538791bDbb0E22373e36b66', network: 'base' }
  const iban = 'DE89 3704 0044 0532 0130 00'

  it(`are added once and listed ${row('POST /api/agents/{id}/payment-methods')} ${row('GET /api/agents/{id}/payment-methods')} ${errorRow('payments', 409)}`, async () => {
    const { call } = await newAgent()
    const body = { type: 'crypto', label: 'Main', details: wallet }
    const added = await call<Method>('POST', '/payment-methods', body)
    expect(added).toMatchObject({ status: 201, body })
    expect(await call('POST', '/payment-methods', { ...body, label: 'Other' })).toMatchObject({
      status: 409,
      body: { code: 409 },
    })
    expect((await call('GET', '/payment-methods')).body).toMatchObject({
      methods: [added.body],
      meta: { total: 1 },
    })
    const twice = { ...body, details: { ...wallet, network: 'polygon' } }
    const both = await Promise.all([1, 2].map(() => call('POST', '/payment-methods', twice)))
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409])
    expect(await call('DELETE', `/payment-methods/${added.body.id}`)).toMatchObject({ status: 200 })
    expect(await call('DELETE', `/payment-methods/${added.body.id}`)).toMatchObject({ status: 404 })
  })

  it('never show the number of an account, and viewers no address either', async () => {
    const { path, call } = await newAgent()
    const agentId = path.split('/')[3] ?? ''
    await giveRole(app, agentId, { email: 'viewer@example.com', role: 'viewer', headers: owner })
    const bank = { type: 'bank', label: 'Bank', details: { iban, holder: 'Ada' } }
    const added = await call<Method>('POST', '/payment-methods', bank)
    expect(added.body.details).toEqual({ iban: '****3000', holder: 'Ada' })
    expect(await call('POST', '/payment-methods', bank)).toMatchObject({ status: 409 })
    // The same end, and another account.
    const other = { ...bank, details: { iban: 'GB29 NWBK 6016 1331 9268 19', holder: 'Ada' } }
    expect(await call('POST', '/payment-methods', other)).toMatchObject({ status: 201 })
    await call('POST', '/payment-methods', { type: 'crypto', label: 'Main', details: wallet })
    const viewer = await gateway.headers('viewer@example.com')
    const { body } = await call<{ methods: Method[] }>('GET', '/payment-methods?sort=type', undefined, viewer)
    expect(body.methods.map(({ details }) => details.address ?? details.iban).toSorted()).toEqual([
      '****3000',
      '****6819',
      '****6b66',
    ])
    const { db } = await app.service.infrastructure.agentDatabases.acquire(agentId)
    const rows = await db.selectFrom('payment_methods').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain('37040044')
  })

  it.each([
    ['crypto', { address: '0x12', network: 'base' }, 'details.address'],
    ['crypto', { address: '0x12' }, 'details.network'],
    ['bank', { iban: 'DE89 3704 0044 0532 0130 01' }, 'details.iban'],
    ['bank', { account_number: '12345678' }, 'details.bank_code'],
    ['card', { card_id: '4242424242424242' }, 'details.card_id'],
    ['card', { card_id: 'card_1', number: '1' }, 'details.number'],
    ['paypal', { email: 'ada' }, 'details.email'],
    ['mobile_money', { phone: 'ada' }, 'details.phone'],
    ['other', { note: 'card 4242 4242 4242 4242' }, 'details.note'],
    ['gift', {}, 'type'],
  ])('of the type %s with %j are refused', async (type, details, field) => {
    const { call } = await newAgent()
    expect(await call('POST', '/payment-methods', { type, label: 'x', details })).toMatchObject({
      status: 400,
      body: { code: 400, details: { field } },
    })
  })

  it.each([
    ['crypto', { address: 'anything', network: 'a network of tomorrow' }],
    ['crypto', { address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', network: 'bitcoin' }],
    ['bank', { account_number: '12345678', bank_code: '60-16-13' }],
    ['card', { card_id: 'card_1PgaftB7WZ01zgkWm3waTcFp', last4: '4242' }],
    ['paypal', { email: 'ada@example.com' }],
    ['mobile_money', { phone: '+254 712 345678', provider: 'M-PESA' }],
    // What would be the number of a card elsewhere.
    ['crypto', { address: '0xabcd4242424242424242abcdabcdabcdabcdabcd', network: 'base' }],
    ['mobile_money', { phone: '+4222222222222' }],
    ['other', { note: 'in cash' }],
  ])('of the type %s with %j are taken', async (type, details) => {
    const { call } = await newAgent()
    expect(await call('POST', '/payment-methods', { type, label: 'x', details })).toMatchObject({
      status: 201,
    })
  })
})

describe('notifications', () => {
  it(`are read, and listed by status ${row('GET /api/agents/{id}/payment-notifications')}`, async () => {
    const { call, notify } = await newAgent()
    const notified = await notify('You received 500 EUR from Lena Berg. Ref: INV-9')
    expect(notified).toMatchObject({
      gateway: 'sms',
      status: 'unmatched',
      transaction_id: null,
      parsed: { amount: '500.00', currency: 'EUR', from: 'Lena Berg', reference: 'INV-9' },
    })
    await notify('Your OTP is 1234')
    const list = async (query: string) =>
      (
        await call<{ notifications: Notification[]; meta: { total: number } }>(
          'GET',
          `/payment-notifications?${query}`,
        )
      ).body
    expect((await list('')).meta.total).toBe(2)
    expect((await list('status=matched')).meta.total).toBe(0)
    expect((await list('search=lena')).notifications).toEqual([notified])
    expect(await call('GET', '/payment-notifications?status=lost')).toMatchObject({ status: 400 })
  })

  it('become transactions, and are matched by reference, or by amount where one alone fits', async () => {
    const { call, notify, receive } = await newAgent()
    const recorded = await receive('70.00 EUR', 'INV-70')
    expect(recorded.status).toBe('matched')
    expect(await call('POST', `/payment-notifications/${recorded.id}/record`)).toMatchObject({ status: 409 })
    // What one notification tells of is told.
    expect((await notify('You received 70 EUR from Ann. Ref INV-70')).status).toBe('unmatched')
    const unmatch = await call<Notification>('POST', `/payment-notifications/${recorded.id}/unmatch`)
    expect(unmatch.body).toMatchObject({ status: 'unmatched', transaction_id: null })
    expect(await notify('You received 70.00 EUR from Bob')).toMatchObject({
      status: 'matched',
      transaction_id: recorded.transaction_id,
    })
    const again = { transaction_id: recorded.transaction_id }
    expect(await call('POST', `/payment-notifications/${recorded.id}/match`, again)).toMatchObject({
      status: 200,
      body: { status: 'matched' },
    })
    expect(await call('POST', '/payment-notifications/none/match', again)).toMatchObject({ status: 404 })
  })

  it('that could belong to two transactions belong to none', async () => {
    const { call, notify, receive } = await newAgent()
    const ids = [await receive('30.00 EUR', 'A-1'), await receive('30.00 EUR', 'A-2')].map(({ id }) => id)
    for (const id of ids) await call('POST', `/payment-notifications/${id}/unmatch`)
    expect((await notify('You received 30 EUR from Ann')).status).toBe('unmatched')
    expect((await notify('You received 30 EUR from Ann. Ref A-2')).status).toBe('matched')
    // Now one alone is left.
    expect((await notify('You received 30 EUR from Ann')).status).toBe('matched')
  })

  it('that say nothing for certain become no transaction', async () => {
    const { call, notify } = await newAgent()
    const { id } = await notify('You received $60.00 from SAM LEE')
    expect(await call('POST', `/payment-notifications/${id}/record`)).toMatchObject({ status: 409 })
  })
})
