import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type TestApp, testApp } from '#test/support/build-app.ts'
import {
  type ChannelAgent,
  type ChannelStage,
  setChannelStage,
  whatsappSecrets,
} from '#test/support/channel-stage.ts'
import { fromTelegram, fromWhatsapp, signed } from '#test/support/messenger-deliveries.ts'
import { startTelegramServer, telegramRefusal } from '#test/support/telegram-server.ts'

const token = '987:AAE-bot'
const account = {
  secret: whatsappSecrets.whatsapp_app_secret,
  phoneNumberId: whatsappSecrets.whatsapp_phone_number_id,
}
const written = { update: 1, chat: 77, text: 'Hello' }
const onWhatsapp = fromWhatsapp(account, { id: 'wamid.A', from: '4917', text: 'Hallo' })

let stage: ChannelStage
let agent: ChannelAgent

beforeAll(async () => {
  stage = await setChannelStage()
})

afterAll(() => stage[Symbol.asyncDispose]())

beforeEach(async () => {
  agent = await stage.newAgent({ telegram_bot_token: token, channel_senders: 'everyone' })
})

async function channelsOf({ path }: ChannelAgent): Promise<Record<string, object>> {
  const { body } = await stage.app.call<{ channels: Record<string, object> }>('GET', `${path}/channels`)
  return body.channels
}

async function stored(): Promise<number[]> {
  return [
    await agent.count('channel_updates'),
    await agent.count('channel_threads'),
    await agent.count('messages'),
  ]
}

describe('connecting Telegram: POST /api/agents/{id}/channels/telegram/connect', () => {
  it('has the bot deliver messages, with a secret of its own', async () => {
    const url = `https://agents.example${agent.path}/channels/telegram/webhook`
    const answer = await stage.app.call('POST', `${agent.path}/channels/telegram/connect`)
    expect(answer).toMatchObject({ status: 200, body: { url } })
    expect(stage.telegram.calls('setWebhook').at(-1)).toEqual({
      token,
      method: 'setWebhook',
      body: {
        url,
        secret_token: expect.stringMatching(/^[\w-]{43}$/),
        allowed_updates: ['message', 'edited_message', 'callback_query'],
      },
    })
    expect(JSON.stringify(answer)).not.toContain(agent.secret)
    expect((await stage.newAgent()).secret).not.toBe(agent.secret)
  })

  it('shows among the channels, as far as it is known', async () => {
    expect(await channelsOf(agent)).toMatchObject({
      mail: { connected: false },
      telegram: { configured: true, connected: true },
      whatsapp: { configured: true, connected: null },
    })
    const other = await stage.newAgent({ whatsapp_app_secret: null })
    expect(await channelsOf(agent)).toMatchObject({ telegram: { connected: false } })
    expect(await channelsOf(other)).toMatchObject({ whatsapp: { configured: true, connected: false } })
    stage.telegram.next(telegramRefusal(500, 'Internal Server Error'))
    expect(await channelsOf(other)).toMatchObject({ telegram: { connected: null } })
  })

  it('needs a bot', async () => {
    await agent.set({ telegram_bot_token: null })
    expect(await stage.app.call('POST', `${agent.path}/channels/telegram/connect`)).toMatchObject({
      status: 400,
      body: {
        error: { code: 'CHANNEL_NOT_CONFIGURED', message: expect.stringContaining('telegram_bot_token') },
      },
    })
  })

  it.each([{}, { BASE_URL: 'http://agents.example' }])(
    'needs a BASE_URL with https: %j',
    async environment => {
      await using telegram = await startTelegramServer()
      const app = await testApp({ environment: { ...telegram.environment, ...environment } })
      const path = '/api/agents/default'
      await app.call('PUT', `${path}/settings`, { body: { telegram_bot_token: token } })
      expect(await app.call('POST', `${path}/channels/telegram/connect`)).toMatchObject({
        status: 400,
        body: { error: { code: 'CHANNEL_NOT_CONFIGURED', message: expect.stringContaining('BASE_URL') } },
      })
      expect(telegram.calls()).toEqual([])
    },
  )
})

describe('POST /api/agents/{id}/channels/telegram/webhook', () => {
  it('stores nothing that does not show the secret', async () => {
    const other = await stage.newAgent()
    const { 'x-telegram-bot-api-secret-token': _, ...headers } = fromTelegram('', written).headers
    const { payload } = fromTelegram('', written)
    const unproven = [{ headers, payload }]
    const wrong = [
      '',
      ' ',
      agent.secret.slice(1),
      `${agent.secret}x`,
      agent.secret.toLowerCase(),
      other.secret,
    ]
    for (const secret of [...wrong, token, 'undefined', 'null']) unproven.push(fromTelegram(secret, written))
    for (const request of unproven)
      expect(await agent.deliver('telegram', request)).toMatchObject({
        status: 401,
        body: { error: { code: 'UNAUTHORIZED' } },
      })
    expect(await stored()).toEqual([0, 0, 0])
    expect(await agent.deliver('telegram', fromTelegram(agent.secret, written))).toMatchObject({
      status: 200,
    })
    expect(await stored()).toEqual([1, 1, 0])
  })

  it('is closed without a bot, as for an agent that there is not', async () => {
    await agent.set({ telegram_bot_token: null })
    const derived = createHmac('sha256', '').update(`webhook ${agent.id}`).digest('base64url')
    for (const secret of ['', derived, agent.secret]) {
      const request = fromTelegram(secret, written)
      const { status, body } = await agent.deliver('telegram', request)
      const missing = await stage.app.call('POST', '/api/agents/nobody/channels/telegram/webhook', request)
      expect([status, body]).toEqual([401, missing.body])
      expect(missing.status).toBe(401)
    }
    expect(await stored()).toEqual([0, 0, 0])
  })

  it('answers what no Telegram would send', async () => {
    const headers = fromTelegram(agent.secret, written).headers
    for (const payload of ['', '{', 'null', '[]', '7', '"x"', '{"update_id":1}', '['.repeat(50_000)])
      expect((await agent.deliver('telegram', { headers, payload })).status).toBeOneOf([200, 400])
    expect(await stored()).toEqual([0, 0, 0])
  })
})

describe('POST /api/agents/{id}/channels/whatsapp/webhook', () => {
  const withSignature = (signature: string | undefined) => ({
    headers: { 'content-type': 'application/json', ...(signature && { 'x-hub-signature-256': signature }) },
    payload: onWhatsapp.payload,
  })

  it('stores nothing that is not signed', async () => {
    const right = onWhatsapp.headers['x-hub-signature-256'] ?? ''
    const hex = right.replace('sha256=', '')
    const sign = (key: string) => signed(key, onWhatsapp.payload).headers['x-hub-signature-256']
    const wrong = [
      undefined,
      '',
      'sha256=',
      hex,
      `sha1=${hex}`,
      right.slice(0, -1),
      `${right}0`,
      `sha256=${hex.slice(2)}00`,
    ]
    for (const signature of [...wrong, sign('other'), sign(whatsappSecrets.whatsapp_verify_token)])
      expect(await agent.deliver('whatsapp', withSignature(signature))).toMatchObject({ status: 401 })
    const altered = { ...onWhatsapp, payload: onWhatsapp.payload.replace('Hallo', 'Hello') }
    expect(await agent.deliver('whatsapp', altered)).toMatchObject({ status: 401 })
    const reformatted = { ...onWhatsapp, payload: JSON.stringify(JSON.parse(onWhatsapp.payload), null, 1) }
    expect(await agent.deliver('whatsapp', reformatted)).toMatchObject({ status: 401 })
    expect(await stored()).toEqual([0, 0, 0])
    expect(await agent.deliver('whatsapp', onWhatsapp)).toMatchObject({ status: 200 })
    expect(await stored()).toEqual([1, 1, 0])
  })

  it('is closed without a secret', async () => {
    await agent.set({ whatsapp_app_secret: null })
    for (const request of [onWhatsapp, withSignature(undefined), signed('\0', onWhatsapp.payload)])
      expect(await agent.deliver('whatsapp', request)).toMatchObject({ status: 401 })
    expect(await stored()).toEqual([0, 0, 0])
  })

  it('takes what else WhatsApp reports', async () => {
    const metadata = { phone_number_id: account.phoneNumberId }
    for (const value of [
      { metadata, statuses: [{ id: 'wamid.A', status: 'read' }] },
      {},
      { metadata, messages: [7] },
    ]) {
      const payload = JSON.stringify({ entry: [{ changes: [{ field: 'messages', value }] }] })
      expect(await agent.deliver('whatsapp', signed(account.secret, payload))).toMatchObject({ status: 200 })
    }
    expect(await stored()).toEqual([0, 0, 0])
  })
})

describe('GET /api/agents/{id}/channels/whatsapp/webhook', () => {
  const verify = (query: object, app: Pick<TestApp, 'call'> = stage.app) =>
    app.call('GET', `${agent.path}/channels/whatsapp/webhook?${new URLSearchParams({ ...query })}`)
  const asked = { 'hub.mode': 'subscribe', 'hub.challenge': '1158201444' }

  it('answers the challenge of whom knows the verify token, as plain text', async () => {
    const answer = await verify({ ...asked, 'hub.verify_token': whatsappSecrets.whatsapp_verify_token })
    expect(answer).toMatchObject({ status: 200, body: 1158201444 })
    expect(answer.headers['content-type']).toMatch('text/plain')
    for (const wrong of [{}, { 'hub.verify_token': '' }, { 'hub.verify_token': account.secret }])
      expect(await verify({ ...asked, ...wrong })).toMatchObject({ status: 401 })
  })

  it('is closed without a verify token', async () => {
    await agent.set({ whatsapp_verify_token: null })
    expect(await verify({ ...asked, 'hub.verify_token': '' })).toMatchObject({ status: 401 })
  })
})

it('who guesses secrets counts against the rate limit, and a messenger does not', async () => {
  await using telegram = await startTelegramServer()
  const environment = { ...telegram.environment, BASE_URL: 'https://agents.example', RATE_LIMIT_GENERAL: '5' }
  const app = await testApp({ environment })
  const path = '/api/agents/default'
  await app.call('PUT', `${path}/settings`, { body: { telegram_bot_token: token } })
  await app.call('POST', `${path}/channels/telegram/connect`)
  const deliver = async (secret: string, from: string) => {
    const request = fromTelegram(secret, written)
    const { status, headers } = await app.call('POST', `${path}/channels/telegram/webhook`, {
      ...request,
      from,
    })
    if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    return status
  }
  const statuses = []
  for (let n = 0; n < 7; n += 1) statuses.push(await deliver('guess', '192.0.2.1'))
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429])
  const secret = telegram.webhook()?.secret_token ?? ''
  for (let n = 0; n < 10; n += 1) expect(await deliver(secret, '192.0.2.2')).toBe(200)
})
