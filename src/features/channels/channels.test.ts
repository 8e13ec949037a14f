import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readdirSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { type Answer, buildApp, type TestApp } from '#test/support/build-app.ts'
import { type MailServer, readMail, startMailServer } from '#test/support/mail-server.ts'
import { fromTelegram, signed } from '#test/support/messenger-deliveries.ts'
import { startTelegramServer, type TelegramServer, telegramRefusal } from '#test/support/telegram-server.ts'
import { startWhatsappServer, type WhatsappServer, whatsappRefusal } from '#test/support/whatsapp-server.ts'
import type { Channels } from './channels.schema.ts'

const secrets = {
  telegram_bot_token: '987654:AAE-telegram-secret',
  whatsapp_access_token: 'EAAG-whatsapp-secret',
  whatsapp_phone_number_id: '10987654321',
  whatsapp_app_secret: 'whatsapp-app-secret',
  whatsapp_verify_token: 'whatsapp-verify-secret',
}
const mailPassword = 'mail-secret'
const platformPassword = 'platform-secret'

let mail: MailServer
let telegram: TelegramServer
let whatsapp: WhatsappServer
let app: TestApp
/** What the service has answered so far. */
const answers: Answer[] = []

beforeAll(async () => {
  mail = await startMailServer()
  telegram = await startTelegramServer()
  whatsapp = await startWhatsappServer()
  app = await buildApp({
    environment: {
      ...telegram.environment,
      ...whatsapp.environment,
      BASE_URL: 'https://agents.example',
      DEV_USER: 'owner@example.com',
      LOG_LEVEL: 'trace',
      MAIL_FROM: 'Service <service@example.com>',
      OUTBOUND_ALLOW: '127.0.0.1',
      SMTP_URL: mail.url.replace('//', `//service:${platformPassword}@`),
    },
  })
})

afterAll(async () => {
  await app.close()
  for (const server of [mail, telegram, whatsapp]) await server[Symbol.asyncDispose]()
})

async function call<Body>(method: string, path: string, body?: object): Promise<Answer<Body>> {
  const answer = await app.call<Body>(method, path, body === undefined ? {} : { body })
  answers.push(answer)
  return answer
}

/** An agent with these settings; gives its path. */
async function agentWith(settings: object = {}): Promise<string> {
  const path = `/api/agents/${await makeAgent(app)}`
  const isEmpty = Object.keys(settings).length === 0
  if (!isEmpty) expect(await call('PUT', `${path}/settings`, settings)).toMatchObject({ status: 200 })
  return path
}

async function statusOf(path: string): Promise<Channels> {
  const { status, body } = await call<{ channels: Channels }>('GET', `${path}/channels`)
  expect(status).toBe(200)
  return body.channels
}

const ownMail = () => ({
  smtp_url: mail.url.replace('//', `//agent:${mailPassword}@`),
  mail_from: 'Agent <agent@example.com>',
})
const problem = (code: string, message: string) => ({
  error: { code, message: expect.stringContaining(message) },
})

describe('the channels of an agent', () => {
  it('are those of the service at first', async () => {
    expect(await statusOf(await agentWith())).toEqual({
      mail: { configured: true, credentials: 'platform', connected: false },
      telegram: { configured: false, credentials: null, connected: false },
      whatsapp: { configured: false, credentials: null, connected: false },
    })
  })

  it('are its own once it has credentials', async () => {
    expect(await statusOf(await agentWith({ ...secrets, ...ownMail() }))).toEqual({
      mail: { configured: true, credentials: 'agent', connected: false },
      telegram: { configured: true, credentials: 'agent', connected: false },
      whatsapp: { configured: true, credentials: 'agent', connected: null },
    })
  })

  it('are not configured by half of what they need', async () => {
    const { smtp_url } = ownMail()
    const path = await agentWith({ smtp_url, whatsapp_access_token: 'token' })
    expect(await statusOf(path)).toMatchObject({
      mail: { configured: false, credentials: 'agent' },
      whatsapp: { configured: false, credentials: 'agent' },
    })
    for (const [channel, message] of [
      ['mail', 'mail_from'],
      ['telegram', 'telegram_bot_token'],
      ['whatsapp', 'whatsapp_phone_number_id'],
    ])
      expect(await call('POST', `${path}/channels/${channel}/test`, { to: '77' })).toMatchObject({
        status: 400,
        body: problem('CHANNEL_NOT_CONFIGURED', message ?? ''),
      })
  })
})

describe('settings of channels', () => {
  it('are kept, and credentials among them only named', async () => {
    const path = await agentWith({ ...secrets, ...ownMail(), channel_senders: 'everyone' })
    const { body } = await call('PUT', `${path}/settings`, { channel_senders: 'contacts' })
    expect(body).toMatchObject({
      settings: { mail_from: 'Agent <agent@example.com>', channel_senders: 'contacts' },
      credentials: { whatsapp_app_secret: true, whatsapp_verify_token: true, smtp_url: true },
    })
  })

  it.each([
    { smtp_url: 'https://mail.example.com' },
    { smtp_url: 'mail.example.com' },
    { smtp_url: 'smtp://' },
    { smtp_url: 'smtp://mail.example.com/path' },
    { smtp_url: 'smtp://mail.example.com?tls.rejectUnauthorized=false' },
    { smtp_url: 'smtp://a:b@c@mail.example.com' },
    { smtp_url: 'smtp://a:b@mail.example.com\\@127.0.0.1' },
    { smtp_url: 'smtp://mail.example.com\r\nx' },
    { mail_from: 'nobody' },
    { mail_from: 'a@example.com\r\nBcc: eve@example.com' },
    { channel_senders: 'nobody' },
    { whatsapp_app_secret: 'with blank' },
  ])('are refused: %j', async settings => {
    const { status, body } = await call('PUT', `${await agentWith()}/settings`, settings)
    expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } })
  })
})

describe('a test message', () => {
  it("goes by the service's mail server under its name, whatever the agent calls itself", async () => {
    const path = await agentWith({ mail_from: 'ceo@bank.example' })
    const { status, body } = await call('POST', `${path}/channels/mail/test`, { to: 'ann@example.com' })
    expect({ status, body }).toEqual({ status: 200, body: { message_id: expect.stringMatching(/^<.*>$/) } })
    const received = mail.mails.at(-1)
    expect(received).toMatchObject({ from: 'service@example.com', login: `service:${platformPassword}` })
    expect(readMail(received?.raw ?? '').headers).toMatchObject({ to: 'ann@example.com' })
  })

  it("goes by the agent's own mail server under its own name", async () => {
    const path = await agentWith(ownMail())
    expect(await call('POST', `${path}/channels/mail/test`, { to: 'ann@example.com' })).toMatchObject({
      status: 200,
    })
    expect(mail.mails.at(-1)).toMatchObject({ from: 'agent@example.com', login: `agent:${mailPassword}` })
  })

  it('goes to a chat and to a number', async () => {
    const path = await agentWith(secrets)
    expect(await call('POST', `${path}/channels/telegram/test`, { to: '77' })).toMatchObject({
      status: 200,
      body: { message_id: expect.stringMatching(/^\d+$/) },
    })
    expect(telegram.calls('sendMessage').at(-1)).toMatchObject({
      token: secrets.telegram_bot_token,
      body: { chat_id: '77' },
    })
    expect(await call('POST', `${path}/channels/whatsapp/test`, { to: '+49 170 1' })).toMatchObject({
      status: 200,
      body: { message_id: expect.stringMatching(/^wamid/) },
    })
    expect(whatsapp.messages().at(-1)).toMatchObject({ to: '491701', type: 'text' })
  })

  it('says why it was not sent', async () => {
    const path = await agentWith(secrets)
    telegram.next(telegramRefusal(403, 'Forbidden: bot was blocked by the user'))
    whatsapp.next(whatsappRefusal(400, 131047, 'Re-engagement message'))
    const said = []
    for (const [channel, to] of Object.entries({
      telegram: '77',
      whatsapp: '4917',
      mail: '550-x@example.com',
    }))
      said.push(await call('POST', `${path}/channels/${channel}/test`, { to }))
    const codes = ['blocked the bot', '24 hours', 'answered: 550']
    expect(said).toMatchObject(codes.map(text => ({ status: 500, body: problem('CHANNEL_FAILED', text) })))
  })

  it('goes to no other channel', async () => {
    const { status } = await call('POST', `${await agentWith()}/channels/pigeon/test`, { to: 'ann' })
    expect(status).toBe(404)
  })

  it.each(['nobody', '', 'a@b.example\r\nRCPT TO:<eve@example.com>'])('to %j is refused', async to => {
    const { status, body } = await call('POST', `${await agentWith()}/channels/mail/test`, { to })
    expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } })
  })
})

it('no private address is connected to as a mail server', async () => {
  const attempted: number[] = []
  const watch = (message: unknown) =>
    (message as { socket: Socket }).socket.on('connectionAttempt', (_address, port) => attempted.push(port))
  const hosts = [
    ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '0.0.0.0', '0', '10.0.0.1'],
    ...[
      '169.254.169.254',
      '192.168.1.1',
      '100.64.0.1',
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::127.0.0.1]',
    ],
    ...['[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[fe80::1]', '[fd00::1]', 'localhost'],
    ...['LOCALHOST.', 'a.localhost', '%31%32%37.0.0.1', '①②⑦.0.0.1', '127。0。0。1', 'a@127.0.0.1'],
  ]
  const guarded = await buildApp()
  onTestFinished(() => guarded.close())
  const path = '/api/agents/default'
  await guarded.call('PUT', `${path}/settings`, { body: { mail_from: 'agent@example.com' } })
  subscribe('net.client.socket', watch)
  onTestFinished(() => {
    unsubscribe('net.client.socket', watch)
  })
  const refusals = []
  for (const host of hosts) {
    const smtp_url = `smtp://${host}:${mail.port}`
    const { status } = await guarded.call('PUT', `${path}/settings`, { body: { smtp_url } })
    if (status === 400) continue
    refusals.push(
      await guarded.call('POST', `${path}/channels/mail/test`, { body: { to: 'ann@example.com' } }),
    )
  }
  expect(refusals.length).toBeGreaterThan(15)
  const reasons = expect.stringMatching(
    /refused unless OUTBOUND_ALLOW|no host of this name|could not be looked up/,
  )
  for (const { body } of refusals) expect(body).toMatchObject({ error: { message: reasons } })
  expect(attempted).not.toContain(mail.port)
})

it('no credential is in an answer, a log line, an error or a file', async () => {
  const path = await agentWith({ ...secrets, ...ownMail() })
  const token = secrets.telegram_bot_token
  telegram.next(telegramRefusal(400, `Bad Request: /bot${token}/sendMessage`))
  whatsapp.next(whatsappRefusal(400, 100, `Bearer ${secrets.whatsapp_access_token}`))
  for (const [channel, to] of Object.entries({ telegram: '77', whatsapp: '4917', mail: 'nobody' }))
    await call('POST', `${path}/channels/${channel}/test`, { to })
  await statusOf(path)
  expect(await call('POST', `${path}/channels/telegram/connect`)).toMatchObject({ status: 200 })
  const shown = telegram.webhook()?.secret_token ?? ''
  for (const [messenger, request] of [
    ['telegram', fromTelegram(shown, { update: 1, chat: 77, text: 'Hello' })],
    ['telegram', fromTelegram(shown.slice(1), { update: 1, chat: 77, text: 'Hello' })],
    ['whatsapp', signed(secrets.whatsapp_app_secret, '{}')],
    ['whatsapp', signed('other', '{}')],
  ] as const)
    answers.push(await app.call('POST', `${path}/channels/${messenger}/webhook`, request))
  for (const shownToken of [secrets.whatsapp_verify_token, `${secrets.whatsapp_verify_token}x`])
    await call('GET', `${path}/channels/whatsapp/webhook?hub.challenge=1&hub.verify_token=${shownToken}`)
  await app.service.close()
  const files = readdirSync(app.dataDirectory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
  const outputs = [JSON.stringify(answers), app.logged.join(''), ...files]
  const planted = [...Object.values(secrets), mailPassword, platformPassword, shown]
  expect(planted.filter(secret => outputs.some(output => output.includes(secret)))).toEqual([])
  expect(answers.length).toBeGreaterThan(30)
})
