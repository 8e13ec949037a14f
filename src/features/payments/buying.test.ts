import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { type Facilitator, payTo, startFacilitator } from '#test/support/facilitator.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { openaiText, openaiToolCall } from '#test/support/model-server.ts'
import { decoded } from '#test/support/x402-buyer.ts'
import type { Transaction } from './ledger/ledger.schema.ts'

const walletKey = `0x${'ab'.repeat(32)}`
const usdc = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const clock = manualClock(new Date().toISOString())
let facilitator: Facilitator
let stage: ChatStage

beforeAll(async () => {
  facilitator = await startFacilitator()
  const environment = { ...facilitator.environment, OUTBOUND_ALLOW: '127.0.0.1', RATE_LIMIT_CHAT: '0' }
  stage = await setChatStage({ environment, clock })
})

afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  await facilitator[Symbol.asyncDispose]()
})

interface Result {
  result?: { status: number; body: string; paid?: object }
  error?: string
  approval?: string
}

async function newBuyer(settings: object = {}) {
  const chat = await stage.makeChat({
    x402_wallet_key: walletKey,
    x402_daily_limit: '1.00',
    x402_approval: 'never',
    ...settings,
  })
  const path = chat.replace(/\/chat$/, '')
  /** Has the agent fetch; gives the message and the result of the call. */
  async function buy(url: string, others: object = {}) {
    const reply = (question: { messages: { role: string }[] }) =>
      question.messages.at(-1)?.role === 'tool'
        ? { stream: openaiText('Done.') }
        : { stream: openaiToolCall('x402_fetch', { url, ...others }) }
    stage.model.next(reply, reply)
    const { body } = await stage.send(chat, { content: 'Buy it.', autoRag: false })
    return { ...(body.assistantMessage.toolResults?.[0] as Result), messageId: body.userMessage.id }
  }
  const spent = async (state = 'settled&state=pending') => {
    const query = `/transactions?type=outbound&state=${state}`
    return (await stage.app.call<{ transactions: Transaction[] }>('GET', `${path}${query}`)).body.transactions
  }
  return { chat, path, buy, spent }
}

/** Where an agent sells something to the developer as whom the tool comes, too; `price` in dollars. */
async function shop(path: string, price = '0.05'): Promise<string> {
  const { call } = stage.app
  const agent = `/api/agents/${await makeAgent(stage.app)}`
  const body = { path, price, currency: 'USDC', network: 'base-sepolia', description: 'x' }
  expect((await call('POST', `${agent}/x402-resources`, { body })).status).toBe(201)
  const { admins } = (await call<{ admins: { id: string }[] }>('GET', `${agent}/admins`)).body
  await call('POST', `${agent}/admins`, { body: { email: 'seller@example.com', role: 'owner' } })
  expect((await call('DELETE', `${agent}/admins/${admins[0]?.id}`)).status).toBe(200)
  listening ??= stage.app.listen()
  return `${await listening}${agent}/x402${path}`
}
let listening: Promise<string> | undefined

/** A seller that does as it likes; it is closed after the test. */
async function seller(answer: (request: IncomingMessage, response: ServerResponse, index: number) => void) {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => answer(request, response, requests.push(request) - 1))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, requests }
}

function demand(response: ServerResponse, others: object = {}): void {
  const accepted = {
    scheme: 'exact',
    network: 'eip155:84532',
    amount: '50000',
    asset: usdc,
    payTo,
    maxTimeoutSeconds: 60,
  }
  const extra = { name: 'USDC', version: '2' }
  const offer = {
    x402Version: 2,
    resource: { url: 'http://x/' },
    accepts: [{ ...accepted, extra, ...others }],
  }
  response
    .writeHead(402, { 'payment-required': Buffer.from(JSON.stringify(offer)).toString('base64') })
    .end('{}')
}

const paymentOf = ({ headers }: IncomingMessage | { headers: Record<string, unknown> }) =>
  headers['payment-signature']

describe('an agent', () => {
  it('buys what it needs, and says what, from whom, for what and why', async () => {
    const { buy, spent } = await newBuyer()
    const url = await shop('/weather')
    const bought = await buy(url)
    expect(bought.result).toMatchObject({
      status: 200,
      paid: { amount: '0.050000', currency: 'USDC', to: payTo },
    })
    expect(JSON.parse(bought.result?.body ?? '')).toMatchObject({
      path: '/weather',
      receipt: { network: 'eip155:84532' },
    })
    const [transaction] = await spent()
    expect(transaction).toMatchObject({
      type: 'outbound',
      amount: '0.05',
      currency: 'USDC',
      to: payTo,
      reference: url,
      state: 'settled',
      source: 'x402',
    })
    expect(transaction?.note).toContain(bought.messageId)
  })

  it('buys of sellers of version 1', async () => {
    const { buy, spent } = await newBuyer()
    const { url, requests } = await seller((request, response) => {
      if (request.headers['x-payment'] !== undefined) return void response.end('here')
      const accepted = {
        scheme: 'exact',
        network: 'base-sepolia',
        maxAmountRequired: '50000',
        asset: usdc,
        payTo,
        maxTimeoutSeconds: 60,
      }
      const extra = { name: 'USDC', version: '2' }
      response
        .writeHead(402)
        .end(JSON.stringify({ x402Version: 1, error: '', accepts: [{ ...accepted, resource: 'x', extra }] }))
    })
    expect((await buy(url, { method: 'POST', body: '{}' })).result).toMatchObject({
      status: 200,
      body: 'here',
    })
    expect(decoded(requests[1]?.headers['x-payment'])).toMatchObject({
      x402Version: 1,
      network: 'base-sepolia',
    })
    // The seller did not say that it was paid.
    expect(await spent()).toMatchObject([{ state: 'pending', amount: '0.05' }])
  })

  it.each([{ x402_wallet_key: null }, { x402_daily_limit: null }])('does not buy with %j', async settings => {
    const { chat } = await newBuyer(settings)
    const { body } = await stage.app.call('GET', `${chat}/tools?scope=all`)
    expect(JSON.stringify(body)).not.toContain('x402_fetch')
  })

  it.each([
    ['tainted', undefined],
    ['always', 'required'],
  ])('with the approval %s waits for a person where it has to', async (x402_approval, approval) => {
    const { buy, spent, chat } = await newBuyer({ x402_approval })
    const url = await shop('/weather')
    expect((await buy(url)).approval).toBe(approval)
    const before = (await spent()).length
    // A turn that has read something: the second call is made after the first one's answer.
    stage.model.next(
      { stream: openaiToolCall('search_knowledge', { query: 'x' }) },
      { stream: openaiToolCall('x402_fetch', { url }) },
      { stream: openaiText('It waits.') },
    )
    const { body } = await stage.send(chat, { content: 'Buy it.', autoRag: false })
    const [, waiting] = body.assistantMessage.toolResults ?? []
    expect(waiting).toMatchObject({ approval: 'required' })
    expect(await spent()).toHaveLength(before)
    const approve = `${chat}/approvals/${waiting?.toolCallId}`
    expect(await stage.app.call('POST', approve, { body: { approved: true } })).toMatchObject({ status: 200 })
    expect(await spent()).toHaveLength(before + 1)
  })
})

describe('limits', () => {
  it('hold for one payment: a tenth of the day unless set', async () => {
    const url = await shop('/dear', '0.11')
    const { buy, spent } = await newBuyer()
    expect((await buy(url)).error).toContain('more than one payment may be')
    expect(await spent()).toEqual([])
    expect((await (await newBuyer({ x402_payment_limit: '0.11' })).buy(url)).result?.status).toBe(200)
    expect((await (await newBuyer({ x402_payment_limit: '0.109999' })).buy(url)).error).toBeDefined()
  })

  it('hold for the day in UTC, for 50 calls at a time, and begin anew after midnight', async () => {
    const url = await shop('/cheap', '0.10')
    const { buy, spent } = await newBuyer({ x402_daily_limit: '1.05', x402_payment_limit: '0.10' })
    const results = await Promise.all(Array.from({ length: 50 }, () => buy(url)))
    expect(results.filter(({ result }) => result?.status === 200)).toHaveLength(10)
    expect(results.filter(({ error }) => error?.includes("today's limit"))).toHaveLength(40)
    expect(await spent()).toHaveLength(10)
    const { now } = clock
    const midnight = Math.ceil((now() + 1) / 86_400_000) * 86_400_000
    clock.advance(midnight - now() - 1)
    expect((await buy(url)).error).toContain("today's limit")
    clock.advance(1)
    expect((await buy(url)).error).toBeUndefined()
    expect(await spent()).toHaveLength(11)
  })
})

describe('a seller that', () => {
  it('asks for more once it is to be paid, or again and again, gets one payment at most', async () => {
    const { buy, spent } = await newBuyer()
    const { url, requests } = await seller((_request, response, index) =>
      demand(response, { amount: index === 0 ? '50000' : '900000' }),
    )
    expect((await buy(url)).error).toContain('counts as spent')
    expect(requests).toHaveLength(2)
    const payment = decoded(paymentOf(requests[1] ?? { headers: {} }))
    expect(payment).toMatchObject({ payload: { authorization: { value: '50000' } } })
    expect(await spent()).toMatchObject([{ state: 'pending', amount: '0.05' }])
  })

  it('redirects elsewhere does not take the payment there', async () => {
    const { buy } = await newBuyer()
    const other = await seller((_request, response) => void response.end('elsewhere'))
    const { url, requests } = await seller((request, response) => {
      if (paymentOf(request) === undefined) demand(response)
      else response.writeHead(307, { location: other.url }).end()
    })
    expect((await buy(url)).result).toMatchObject({ body: 'elsewhere' })
    expect(requests).toHaveLength(2)
    expect(other.requests).toHaveLength(1)
    expect(other.requests[0]?.headers).not.toHaveProperty('payment-signature')
  })

  it.each([
    ['another coin', { asset: payTo }],
    ['another network', { network: 'eip155:999' }],
    ['another scheme', { scheme: 'upto' }],
    ['nothing', { amount: '0' }],
    ['no number', { amount: '1e3' }],
    ['a fortune', { amount: '9'.repeat(30) }],
  ])('asks for %s gets nothing', async (_what, others) => {
    const { buy, spent } = await newBuyer()
    const { url, requests } = await seller((_request, response) => demand(response, others))
    expect((await buy(url)).error).toBeDefined()
    expect(requests).toHaveLength(1)
    expect(await spent()).toEqual([])
  })

  it('signs for a year ahead gets a payment for minutes', async () => {
    const { buy } = await newBuyer()
    const { url, requests } = await seller((_request, response) =>
      demand(response, { maxTimeoutSeconds: 31_536_000 }),
    )
    await buy(url)
    const { payload } = decoded(paymentOf(requests[1] ?? { headers: {} })) as {
      payload: { authorization: { validBefore: string } }
    }
    expect(Number(payload.authorization.validBefore)).toBeLessThan(Date.now() / 1000 + 400)
  })

  it('answers without end, or breaks off, keeps what it got', async () => {
    const { buy, spent } = await newBuyer()
    const large = await seller((request, response) => {
      if (paymentOf(request) === undefined) return demand(response)
      response.end('x'.repeat(10 * 1024 * 1024))
    })
    expect((await buy(large.url)).error).toContain('larger than')
    const broken = await seller((request, response) => {
      if (paymentOf(request) === undefined) demand(response)
      else response.destroy()
    })
    expect((await buy(broken.url)).error).toBeDefined()
    expect(await spent()).toMatchObject([{ state: 'pending' }, { state: 'pending' }])
  })

  it('is in the private network is not reached', async () => {
    const { buy } = await newBuyer()
    for (const url of ['http://10.0.0.1/', 'http://169.254.169.254/', 'file:///etc/passwd'])
      expect((await buy(url)).error).toBeDefined()
  })
})
