import { Webhook as Library } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { useNameServer } from '#test/support/name-server.ts'
import {
  type Received,
  startWebhookReceiver,
  verified,
  type WebhookReceiver,
} from '#test/support/webhook-receiver.ts'
import { setWebhookStage, type WebhookStage } from '#test/support/webhook-stage.ts'

let stage: WebhookStage

beforeAll(async () => {
  stage = await setWebhookStage()
})

afterAll(() => stage[Symbol.asyncDispose]())

async function receiver(answer?: Parameters<typeof startWebhookReceiver>[0]): Promise<WebhookReceiver> {
  const started = await startWebhookReceiver(answer)
  onTestFinished(() => started[Symbol.asyncDispose]())
  return started
}

const idle = () => stage.app.service.infrastructure.runner.idle()
const typesOf = (received: readonly Received[]) => received.map(({ body }) => JSON.parse(body).type)

describe('an event', () => {
  it('of a chat is sent to those who subscribed to it, signed', async () => {
    const { url, received } = await receiver()
    const agentId = await stage.newAgent()
    const sent = await stage.register(agentId, `${url}/sent`, ['message.sent'])
    const all = await stage.register(agentId, `${url}/all`)
    await stage.register(agentId, `${url}/none`, ['source.ready'])
    await stage.register(await stage.newAgent(), `${url}/other`)
    const { body } = await stage.app.call<{ assistantMessage: { id: string; conversationId: string } }>(
      'POST',
      `/api/agents/${agentId}/chat`,
      { body: { content: 'Hello' } },
    )
    await idle()
    const of = (path: string) => received.filter(delivery => delivery.path === path)
    expect(received.map(({ path }) => path).toSorted()).toEqual(['/all', '/all', '/sent'])
    expect(typesOf(of('/all')).toSorted()).toEqual(['message.received', 'message.sent'])
    for (const delivery of of('/all')) expect(verified(delivery, all.secret)).toMatchObject({ data: {} })
    const [delivery] = of('/sent')
    if (delivery === undefined) throw new Error('nothing came')
    expect(() => verified(delivery, all.secret)).toThrow('signature')
    expect(verified(delivery, sent.secret)).toEqual({
      type: 'message.sent',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      data: {
        agent_id: agentId,
        message_id: body.assistantMessage.id,
        conversation_id: body.assistantMessage.conversationId,
        created_at: expect.any(String),
      },
    })
    expect(delivery.headers['content-type']).toBe('application/json')
    expect(await stage.deliveries(agentId, sent.id)).toEqual([
      {
        id: delivery.id,
        event: 'message.sent',
        status: 'succeeded',
        attempts: 1,
        status_code: 200,
        duration_ms: expect.any(Number),
        answer: '',
        next_attempt_at: null,
        created_at: expect.any(String),
      },
    ])
  })

  it('whose change was undone is not sent', async () => {
    const { url, received } = await receiver()
    const agentId = await stage.newAgent()
    await stage.register(agentId, url)
    await expect(stage.emit(agentId, 'source.ready', { sourceId: 'undone' }, true)).rejects.toThrow('failed')
    await stage.emit(agentId, 'source.ready', { sourceId: 'stored' })
    await idle()
    expect(received.map(({ body }) => JSON.parse(body).data.source_id)).toEqual(['stored'])
  })

  it('is neither stored for nor sent to a webhook that is disabled, or was deleted', async () => {
    const { url, received } = await receiver()
    const agentId = await stage.newAgent()
    const path = `/api/agents/${agentId}/webhooks`
    const [paused, gone] = [await stage.register(agentId, url), await stage.register(agentId, url)]
    await stage.app.call('PUT', `${path}/${paused.id}`, { body: { enabled: false } })
    await stage.app.call('DELETE', `${path}/${gone.id}`)
    await stage.emit(agentId, 'source.ready')
    await idle()
    expect(await stage.deliveries(agentId, paused.id)).toEqual([])
    await stage.app.call('PUT', `${path}/${paused.id}`, { body: { enabled: true, events: ['source.error'] } })
    await stage.emit(agentId, 'source.ready')
    await stage.emit(agentId, 'source.error')
    await idle()
    expect(typesOf(received)).toEqual(['source.error'])
  })
})

describe('an answer', () => {
  it('is kept in its first 1,024 bytes, as far as text can be stored', async () => {
    const { url } = await receiver(() => ({ status: 400, body: `nul:\0 ${'x'.repeat(2_000_000)}` }))
    const agentId = await stage.newAgent()
    const { id } = await stage.register(agentId, url)
    await stage.emit(agentId, 'source.ready')
    await eventually(async () => {
      const [delivery] = await stage.deliveries(agentId, id)
      expect(delivery).toMatchObject({ status: 'pending', attempts: 1, status_code: 400 })
      expect(delivery?.answer).toMatch(/^nul: x{1018}$/)
    })
  })

  it('that redirects is a failure, and not followed', async () => {
    const other = await receiver()
    const { url } = await receiver(() => ({ status: 307, headers: { location: `${other.url}/` } }))
    const agentId = await stage.newAgent()
    const { id } = await stage.register(agentId, url)
    await stage.app.call('POST', `/api/agents/${agentId}/webhooks/${id}/test`)
    await idle()
    expect(await stage.deliveries(agentId, id)).toMatchObject([{ status: 'failed', status_code: 307 }])
    expect(other.received).toEqual([])
  })

  it('that never comes is told in words', async () => {
    const agentId = await stage.newAgent()
    const { id } = await stage.register(agentId, 'http://127.0.0.1:10/')
    await stage.app.call('POST', `/api/agents/${agentId}/webhooks/${id}/test`)
    await idle()
    expect(await stage.deliveries(agentId, id)).toMatchObject([
      { status: 'failed', status_code: null, answer: expect.stringContaining('refused the connection') },
    ])
  })
})

describe('a test', () => {
  it('sends one event at once, to this webhook alone, and tries no second time', async () => {
    let status = 500
    const { url, received } = await receiver(() => ({ status }))
    const agentId = await stage.newAgent()
    const { id, secret } = await stage.register(agentId, url, ['message.sent'])
    await stage.register(agentId, `${url}/other`)
    const path = `/api/agents/${agentId}/webhooks/${id}/test`
    const { body: made } = await stage.app.call<{ id: string }>('POST', path)
    expect(made).toMatchObject({ event: 'webhook.test', status: 'pending', attempts: 0 })
    await idle()
    expect(await stage.deliveries(agentId, id)).toMatchObject([
      { id: made.id, status: 'failed', attempts: 1, next_attempt_at: null },
    ])
    status = 204
    expect(await stage.app.call('POST', path)).toMatchObject({ status: 200 })
    await idle()
    expect(await stage.deliveries(agentId, id, 'status=succeeded')).toHaveLength(1)
    expect(received.map(delivery => verified(delivery, secret))).toMatchObject([
      { type: 'webhook.test', data: { agent_id: agentId, webhook_id: id } },
      { type: 'webhook.test' },
    ])
    expect((await stage.webhook(agentId, id)).failing_since).toBeNull()
  })
})

describe('a retry', () => {
  it('sends a delivery again, whatever came of it, with the same id and body', async () => {
    let status = 500
    const { url, received } = await receiver(() => ({ status }))
    const agentId = await stage.newAgent()
    const { id, secret } = await stage.register(agentId, url)
    await stage.emit(agentId, 'source.ready', { sourceId: 'one' })
    await idle()
    const [pending] = await stage.deliveries(agentId, id, 'status=pending')
    expect(pending).toMatchObject({ attempts: 1, status_code: 500 })
    expect((await stage.webhook(agentId, id)).failing_since).not.toBeNull()
    status = 200
    const path = `/api/agents/${agentId}/webhooks/${id}/deliveries/${pending?.id}/retry`
    expect(await stage.app.call('POST', path)).toMatchObject({
      status: 200,
      body: { id: pending?.id, status: 'pending', attempts: 0 },
    })
    await idle()
    expect(await stage.deliveries(agentId, id)).toMatchObject([{ status: 'succeeded', attempts: 1 }])
    expect((await stage.webhook(agentId, id)).failing_since).toBeNull()
    await stage.app.call('POST', path)
    await idle()
    expect(received).toHaveLength(3)
    for (const delivery of received) verified(delivery, secret)
    expect(new Set(received.map(delivery => delivery.id))).toEqual(new Set([pending?.id]))
    expect(new Set(received.map(({ body }) => body)).size).toBe(1)
  })

  it('and a test of a disabled webhook are refused', async () => {
    const agentId = await stage.newAgent()
    const { id } = await stage.register(agentId, 'http://127.0.0.1:10/')
    const path = `/api/agents/${agentId}/webhooks/${id}`
    await stage.app.call('PUT', path, { body: { enabled: false } })
    for (const call of ['test', 'deliveries/any/retry'])
      expect(await stage.app.call('POST', `${path}/${call}`)).toMatchObject({ status: 409 })
  })
})

describe('an address', () => {
  it('is checked at each attempt: a name that now leads inside is not asked', async () => {
    const known = { 'hooks.test': '127.0.0.1' }
    await useNameServer(known)
    const { url, received } = await receiver()
    const agentId = await stage.newAgent()
    const { id } = await stage.register(agentId, url.replace('127.0.0.1', 'hooks.test'))
    const send = async () => {
      await stage.app.call('POST', `/api/agents/${agentId}/webhooks/${id}/test`)
      await idle()
    }
    await send()
    known['hooks.test'] = '127.0.0.2'
    await send()
    expect(await stage.deliveries(agentId, id, 'sort=created_at&order=asc')).toMatchObject([
      { status: 'succeeded' },
      { status: 'failed', status_code: null, answer: expect.stringContaining('OUTBOUND_ALLOW') },
    ])
    expect(received).toHaveLength(1)
  })
})

describe('a new secret', () => {
  it('signs beside the former one, which is replaced by the next', async () => {
    const { url, received } = await receiver()
    const agentId = await stage.newAgent()
    const { id, secret: first } = await stage.register(agentId, url)
    const path = `/api/agents/${agentId}/webhooks/${id}`
    const rotate = async () =>
      (await stage.app.call<{ secret: string }>('POST', `${path}/secret`)).body.secret
    const second = await rotate()
    expect(second).not.toBe(first)
    await stage.app.call('POST', `${path}/test`)
    await idle()
    const third = await rotate()
    await stage.app.call('POST', `${path}/test`)
    await idle()
    const accepts = (delivery: Received | undefined) =>
      [first, second, third].map(secret => {
        try {
          return new Library(secret).verify(delivery?.body ?? '', { ...delivery?.headers } as Record<
            string,
            string
          >)
        } catch {
          return undefined
        }
      })
    expect(accepts(received[0]).map(Boolean)).toEqual([true, true, false])
    expect(accepts(received[1]).map(Boolean)).toEqual([false, true, true])
    const stored = await stage.app.service.infrastructure.platform
      .selectFrom('agent_secrets')
      .selectAll()
      .execute()
    expect(stored.filter(({ agent_id }) => agent_id === agentId)).toHaveLength(3)
    for (const secret of [first, second, third]) {
      expect(JSON.stringify(stored)).not.toContain(secret)
      expect(stage.app.logged.join('')).not.toContain(secret)
    }
  })
})

describe('a receiver that never answers', () => {
  it('takes two places at most, and delays none of 19 others', async () => {
    const events = 20
    const hanging = await receiver(() => null)
    const { url, received } = await receiver()
    const agentId = await stage.newAgent()
    const slow = await stage.register(agentId, hanging.url)
    for (let n = 0; n < 19; n += 1) await stage.register(agentId, `${url}/${n}`)
    for (let n = 0; n < events; n += 1) await stage.emit(agentId, 'source.ready', { sourceId: String(n) })
    await eventually(() => expect(received).toHaveLength(19 * events), 120_000)
    expect(new Set(received.map(({ path, body }) => `${path} ${JSON.parse(body).data.source_id}`)).size).toBe(
      19 * events,
    )
    expect(hanging.maxWaiting()).toBeLessThanOrEqual(2)
    expect(await stage.deliveries(agentId, slow.id, 'status=succeeded')).toEqual([])
    await stage.app.call('DELETE', `/api/agents/${agentId}/webhooks/${slow.id}`)
  })
})
