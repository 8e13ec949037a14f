import { Webhook as Library } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { manualClock } from '#test/support/manual-clock.ts'
import { passTime } from '#test/support/pass-time.ts'
import {
  type Received,
  type ReceiverAnswer,
  startWebhookReceiver,
  type WebhookReceiver,
} from '#test/support/webhook-receiver.ts'
import { setWebhookStage, type WebhookStage } from '#test/support/webhook-stage.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const clock = manualClock()
let stage: WebhookStage

beforeAll(async () => {
  stage = await setWebhookStage({ clock })
})

afterAll(() => stage[Symbol.asyncDispose]())

const pass = (duration: number) => passTime(stage.app, clock, Math.round(duration))

/** A receiver that answers what `answer` holds at the time, and a webhook of an agent of its own. */
async function subscribed(first: ReceiverAnswer = { status: 500 }) {
  const state = { answer: first }
  const receiver: WebhookReceiver = await startWebhookReceiver(() => state.answer)
  onTestFinished(() => receiver[Symbol.asyncDispose]())
  const agentId = await stage.newAgent()
  const { id, secret } = await stage.register(agentId, receiver.url)
  const path = `/api/agents/${agentId}/webhooks/${id}`
  return {
    received: receiver.received,
    secret,
    path,
    set: (answer: ReceiverAnswer) => Object.assign(state, { answer }),
    async emit() {
      await stage.emit(agentId, 'source.ready', { sourceId: 'one' })
      await pass(0)
    },
    webhook: () => stage.webhook(agentId, id),
    deliveries: (query?: string) => stage.deliveries(agentId, id, query),
  }
}

/** The signatures that a delivery must have, by the official library. */
function signatures({ id, headers, body }: Received, ...secrets: string[]): string {
  const at = new Date(Number(headers['webhook-timestamp']) * second)
  return secrets.map(secret => new Library(secret).sign(id, at, body)).join(' ')
}

describe('a delivery that fails', () => {
  it('is repeated as it was, at growing intervals for three days, and then no more', async () => {
    const { emit, received, deliveries, secret } = await subscribed()
    await emit()
    const hours = [2, 5, 10, 14, 20, 24].map(count => count * hour)
    let attempts = 1
    for (const pause of [5 * second, 5 * minute, 30 * minute, ...hours]) {
      expect(received).toHaveLength(attempts)
      const [delivery] = await deliveries()
      expect(delivery).toMatchObject({ status: 'pending', attempts })
      const wait = Date.parse(delivery?.next_attempt_at ?? '') - clock.now()
      expect(wait).toBeGreaterThanOrEqual(0.9 * pause)
      expect(wait).toBeLessThanOrEqual(1.1 * pause)
      await pass(0.89 * pause)
      expect(received).toHaveLength(attempts)
      await pass(0.22 * pause)
      attempts += 1
    }
    expect(received).toHaveLength(10)
    await pass(4 * day)
    expect(received).toHaveLength(10)
    expect(await deliveries()).toMatchObject([{ status: 'failed', attempts: 10, next_attempt_at: null }])
    expect(new Set(received.map(({ id }) => id)).size).toBe(1)
    expect(new Set(received.map(({ body }) => body)).size).toBe(1)
    expect(new Set(received.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(10)
    for (const one of received) expect(one.headers['webhook-signature']).toBe(signatures(one, secret))
  })

  it('succeeds as soon as the receiver does', async () => {
    const { emit, set, received, deliveries, webhook } = await subscribed()
    await emit()
    set({ status: 202 })
    await pass(6 * second)
    expect(await deliveries()).toMatchObject([{ status: 'succeeded', attempts: 2, next_attempt_at: null }])
    expect(received).toHaveLength(2)
    expect(await webhook()).toMatchObject({ enabled: true, failing_since: null })
  })

  it.each([429, 503])('with %i is not repeated before the time that the receiver asks for', async status => {
    const { emit, set, received } = await subscribed({ status, headers: { 'retry-after': '3600' } })
    await emit()
    set({})
    await pass(hour - second)
    expect(received).toHaveLength(1)
    await pass(2 * second)
    expect(received).toHaveLength(2)
  })

  it('ends with the webhook', async () => {
    const { emit, received, path } = await subscribed()
    await emit()
    await stage.app.call('DELETE', path)
    await pass(day)
    expect(received).toHaveLength(1)
  })

  it('ends when the webhook is disabled, and says so', async () => {
    const { emit, received, path, deliveries } = await subscribed()
    await emit()
    await stage.app.call('PUT', path, { body: { enabled: false } })
    await pass(6 * second)
    expect(received).toHaveLength(1)
    expect(await deliveries()).toMatchObject([
      { status: 'failed', attempts: 1, answer: expect.stringContaining('disabled') },
    ])
  })
})

describe('a webhook', () => {
  it('is disabled by 410, with the reason, until it is enabled again', async () => {
    const { emit, set, received, path, webhook, deliveries } = await subscribed({ status: 410 })
    await emit()
    expect(await deliveries()).toMatchObject([{ status: 'failed', attempts: 1, status_code: 410 }])
    expect(await webhook()).toMatchObject({ enabled: false, disabled_reason: expect.stringContaining('410') })
    await emit()
    await pass(day)
    expect(received).toHaveLength(1)
    set({})
    expect(await stage.app.call('PUT', path, { body: { enabled: true } })).toMatchObject({
      body: { enabled: true, disabled_reason: null, failing_since: null },
    })
    await emit()
    expect(received).toHaveLength(2)
  })

  it('is disabled after five days of nothing but failures', async () => {
    const { emit, set, received, webhook } = await subscribed()
    await emit()
    await pass(4 * day)
    expect(await webhook()).toMatchObject({ enabled: true, failing_since: expect.any(String) })
    set({})
    await pass(6 * minute)
    expect(await webhook()).toMatchObject({ enabled: true, failing_since: null })
    set({ status: 500 })
    await emit()
    await pass(5 * day - hour)
    await emit()
    expect(await webhook()).toMatchObject({ enabled: true, failing_since: expect.any(String) })
    await pass(2 * hour)
    await emit()
    expect(await webhook()).toMatchObject({
      enabled: false,
      disabled_reason: expect.stringContaining('five days'),
    })
    const before = received.length
    await emit()
    await pass(day)
    expect(received).toHaveLength(before)
  })

  it('has deliveries signed with its former secret for a day', async () => {
    const { emit, received, secret, path } = await subscribed({})
    const { body } = await stage.app.call<{ secret: string }>('POST', `${path}/secret`)
    await pass(day - minute)
    await emit()
    await pass(2 * minute)
    await emit()
    const [one, two] = received
    if (one === undefined || two === undefined) throw new Error('too little came')
    expect(one.headers['webhook-signature']).toBe(signatures(one, body.secret, secret))
    expect(two.headers['webhook-signature']).toBe(signatures(two, body.secret))
  })

  it('has its deliveries kept for 30 days', async () => {
    const { emit, deliveries } = await subscribed({})
    await emit()
    await emit()
    await pass(29 * day)
    await emit()
    expect(await deliveries()).toHaveLength(3)
    await pass(2 * day)
    await emit()
    expect(await deliveries()).toHaveLength(2)
    await pass(31 * day)
    expect(await deliveries()).toEqual([])
  })

  it('keeps a delivery that is pending, however old it is', async () => {
    const asked = { status: 503, headers: { 'retry-after': String(day / second) } }
    const { emit, set, deliveries, path } = await subscribed(asked)
    await emit()
    await stage.app.service.infrastructure.agentDatabases.use(path.split('/')[3] ?? '', ({ db }) =>
      db
        .updateTable('webhook_deliveries')
        .set({ created_at: new Date(clock.now() - 40 * day).toISOString() })
        .execute(),
    )
    set({})
    await emit()
    expect(await deliveries('status=pending')).toHaveLength(1)
    await pass(day + hour)
    expect(await deliveries('status=pending')).toEqual([])
  })
})
