/** Which conversations a caller without a role reaches by paying for a call, and without paying. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, buildApp, type TestApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Facilitator, startFacilitator } from '#test/support/facilitator.ts'
import { decoded, newWallet, paymentFor } from '#test/support/x402-buyer.ts'

const chat = '/api/agents/default/chat'
/** A page of another site may chat, and does not act as the developer. */
const stranger = { origin: 'https://elsewhere.example' }
const authors = ['admin', 'nobody', 'payer', 'other payer', 'channel', 'unknown'] as const
type Author = (typeof authors)[number]

const price = { price: '0.10', currency: 'USDC', network: 'base-sepolia', description: 'An answer' }

let facilitator: Facilitator
let app: TestApp
const wallets = { payer: newWallet(), 'other payer': newWallet() }
const begun = new Map<Author, { conversationId: string; id: string }>()

beforeAll(async () => {
  facilitator = await startFacilitator()
  app = await buildApp({
    environment: { ...facilitator.environment, DEV_USER: 'dev@example.com' },
  })
  begun.set('admin', questionOf(await send(chat, {}, {})))
  begun.set('nobody', questionOf(await send(chat, {}, stranger)))
  begun.set('unknown', { conversationId: 'none', id: 'none' })
  begun.set('channel', await beginOnChannel())
  const sold = await app.call('POST', '/api/agents/default/x402-resources', {
    body: { ...price, path: '/chat' },
  })
  expect(sold.status).toBe(201)
  for (const payer of ['payer', 'other payer'] as const)
    begun.set(payer, questionOf(await buy(payer, chat, {})))
})

afterAll(async () => {
  await app.close()
  await facilitator[Symbol.asyncDispose]()
})

function send(url: string, body: object, headers: Record<string, string>): Promise<Answer> {
  return app.call('POST', url, { headers, body: { ...(url === chat && { content: 'Hello' }), ...body } })
}

async function buy(payer: keyof typeof wallets, url: string, body: object): Promise<Answer> {
  const payment = await paymentFor(await send(url, body, stranger), { wallet: wallets[payer] })
  return await send(url, body, { ...stranger, ...payment })
}

function questionOf({ body }: Answer) {
  return (body as { userMessage: { conversationId: string; id: string } }).userMessage
}

async function beginOnChannel() {
  const [conversationId, id, created_at] = ['on-telegram', 'by-telegram', '2026-11-24T00:00:00.000Z']
  await app.service.infrastructure.agentDatabases.use('default', async ({ db }) => {
    const conversation = { id: conversationId, title: 'Hello', channel: 'telegram', message_count: 1 }
    await db
      .insertInto('conversations')
      .values({ ...conversation, created_at, lock_token: 0 })
      .execute()
    const message = { id, conversation_id: conversationId, role: 'user', content: 'Hello', created_at }
    await db.insertInto('messages').values(message).execute()
  })
  return { conversationId, id }
}

/** The call that goes on in a conversation of this author, or answers its first message once more. */
function callOf(author: Author, call: 'chat' | 'regenerate', stream: boolean): [url: string, body: object] {
  const { conversationId = '', id } = begun.get(author) ?? {}
  return call === 'chat'
    ? [chat, { conversationId, stream }]
    : [`${chat}/messages/${id}/regenerate`, { stream }]
}

const forms = (['chat', 'regenerate'] as const).flatMap(call =>
  [false, true].map(stream => ({ call, stream })),
)

describe.each(forms)('$call with stream $stream', ({ call, stream }) => {
  it.each(authors)('bought in a conversation begun by %s', async author => {
    const settled = facilitator.settled.length
    const answer = await buy('payer', ...callOf(author, call, stream))
    if (author === 'payer') {
      expect(answer.status).toBe(200)
      expect(String(answer.headers['content-type'])).toContain(stream ? 'event-stream' : 'json')
    } else expect(answer).toMatchObject(missing(call))
    expect(facilitator.settled).toHaveLength(settled + (author === 'payer' ? 1 : 0))
  })
})

const missing = (call: string) => ({
  status: 404,
  body: { code: 'NOT_FOUND', error: `${call === 'chat' ? 'Conversation' : 'Message'} not found` },
})

describe('a conversation that a payer has begun', () => {
  it('answers a payment of theirs while it is locked with 409, and one of others with 404', async () => {
    const { conversationId } = begun.get('payer') ?? {}
    const lock = (lock_expires_at: string | null) =>
      app.service.infrastructure.agentDatabases.use('default', ({ db }) =>
        db
          .updateTable('conversations')
          .set({ lock_holder: lock_expires_at && 'another', lock_expires_at })
          .where('id', '=', conversationId ?? '')
          .execute(),
      )
    await lock('9999-01-01T00:00:00.000Z')
    const locked = { status: 409, body: { code: 'CONVERSATION_LOCKED' } }
    expect(await buy('payer', chat, { conversationId })).toMatchObject(locked)
    expect(await buy('other payer', chat, { conversationId })).toMatchObject(missing('chat'))
    await lock(null)
  })

  it('is found by those who may change the agent, and by no page once the call is free', async () => {
    const resources = '/api/agents/default/x402-resources'
    const { body } = await app.call<{ resources: { id: string }[] }>('GET', resources)
    await app.call('DELETE', `${resources}/${body.resources[0]?.id}`)
    for (const { call, stream } of forms) {
      const [url, asked] = callOf('payer', call, stream)
      expect((await send(url, asked, {})).status).toBe(200)
      expect(await send(url, asked, stranger)).toMatchObject(missing(call))
      expect((await send(...callOf('nobody', call, stream), stranger)).status).toBe(200)
    }
  })
})

it('a payment whose answer failed is not repeated by another who has seen its nonce on the network', async () => {
  const post = (path: string, body: object, method = 'POST') =>
    app.call(method, `/api/agents/default${path}`, { body })
  await post('/x402-resources', { ...price, path: '/chat' })
  const nowhere = { llm_provider: 'openai-compatible', llm_model: 'x', llm_base_url: 'https://192.0.2.1/v1' }
  await post('/settings', nowhere, 'PUT')
  await post('/settings', { openai_compatible_api_key: 'sk-nobody-listens' }, 'PUT')
  let forged = {}
  const offer = await send(chat, {}, stranger)
  const payment = await paymentFor(offer, {
    change(payment) {
      const { payload, ...others } = payment as { payload: object }
      const header = JSON.stringify({ ...others, payload: { ...payload, signature: '0x00' } })
      forged = { 'payment-signature': Buffer.from(header).toString('base64') }
      return payment
    },
  })
  const paid = async () => {
    const { status, headers } = await send(chat, {}, { ...stranger, ...payment })
    expect([400, 500]).toContain(status)
    expect(decoded(headers['payment-response'])).toMatchObject({ success: true })
  }
  await paid()
  await eventually(async () => expect((await send(chat, {}, { ...stranger, ...forged })).status).toBe(402))
  await paid()
})
