import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MailServer, readMail, startMailServer } from '#test/support/mail-server.ts'
import { type NodeAgent, type NodeStage, setNodeStage } from '#test/support/node-stage.ts'
import { startTelegramServer, type TelegramServer, telegramRefusal } from '#test/support/telegram-server.ts'
import { startWhatsappServer, type WhatsappServer, whatsappRefusal } from '#test/support/whatsapp-server.ts'

let mail: MailServer
let telegram: TelegramServer
let whatsapp: WhatsappServer
let stage: NodeStage
let agent: NodeAgent

beforeAll(async () => {
  mail = await startMailServer()
  telegram = await startTelegramServer()
  whatsapp = await startWhatsappServer()
  stage = await setNodeStage({ ...telegram.environment, ...whatsapp.environment })
  agent = await stage.newAgent()
  const settings = {
    smtp_url: mail.url,
    mail_from: 'Shop <shop@example.com>',
    telegram_bot_token: '987654:AAE-telegram-secret',
    whatsapp_access_token: 'EAAG-whatsapp-secret',
    whatsapp_phone_number_id: '10987654321',
  }
  const { status } = await stage.app.call('PUT', `${agent.path}/settings`, { body: settings })
  expect(status).toBe(200)
})
afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  for (const server of [mail, telegram, whatsapp]) await server[Symbol.asyncDispose]()
})

const retries = { max: 1, delay_seconds: 0 }
const contact = { name: 'Ada', email: 'ada@example.com', number: '+49 170 1234567', chat: 77 }
const problem = (field: string) => ({
  status: 400,
  body: { error: { details: { problems: [{ node: 'node', field }] } } },
})

describe('email', () => {
  const node = (others: object = {}) => ({
    type: 'email',
    to: '{{contact.email}}',
    subject: 'Hello {{contact.name}}',
    body: '{{contact.number}}',
    ...others,
  })

  it('sends a mail with all its parts', async () => {
    const parts = {
      html: '<p>{{contact.name}}</p>',
      cc: ['bob@example.com'],
      bcc: '{{other}}',
      reply_to: 'desk@example.com',
    }
    const { status, output, warnings } = await agent.runNode(
      node({ ...parts, cc: ['bob@example.com', '{{contact.email}}'] }),
      { contact },
    )
    expect({ status, warnings }).toEqual({ status: 'complete', warnings: ['{{other}} is empty'] })
    const received = mail.mails.at(-1)
    expect(received).toMatchObject({ from: 'shop@example.com', to: ['ada@example.com', 'bob@example.com'] })
    expect(output).toEqual({
      message_id: expect.stringMatching(/^<.*@example.com>$/),
      accepted: ['ada@example.com', 'bob@example.com'],
      rejected: [],
    })
    const { headers } = readMail(received?.raw ?? '')
    expect(headers).toMatchObject({ subject: 'Hello Ada', 'reply-to': 'desk@example.com' })
    expect(received?.raw).toContain('<p>Ada</p>')
  })

  it('has one subject and no other header, whatever a template puts into it', async () => {
    const name = 'a\r\nBcc: eve@example.com'
    expect(await agent.runNode(node(), { contact: { ...contact, name } })).toMatchObject({
      status: 'complete',
    })
    const received = mail.mails.at(-1)
    expect(received?.to).toEqual(['ada@example.com'])
    expect(readMail(received?.raw ?? '').headers).toMatchObject({ subject: 'Hello a Bcc: eve@example.com' })
  })

  it('is tried again while the server says that it may pass', async () => {
    mail.refuse(451)
    const { status, attempts } = await agent.runNode(node({ retries }), { contact })
    mail.refuse(undefined)
    expect({ status, attempts }).toEqual({ status: 'errored', attempts: 2 })
  })

  it.each([
    ['to', { email: 'ada@example.com\r\nBcc: eve@example.com' }],
    ['to', { email: 'no address' }],
    ['to', {}],
  ])('is not sent with a wrong %s: %j', async (field, given) => {
    const before = mail.mails.length
    const { status, error, attempts } = await agent.runNode(node({ retries }), { contact: given })
    expect({ status, error, attempts }).toEqual({
      status: 'errored',
      error: expect.stringContaining(field),
      attempts: 1,
    })
    expect(mail.mails).toHaveLength(before)
  })

  it('goes to the addresses that the workflow lists, each of which a template may stand for', async () => {
    const to = '"Doe, Jane" <jane@example.com>, {{contact.name}} <{{contact.email}}>, {{gone}}'
    const { output } = await agent.runNode(node({ to, cc: ['{{list}}', 'bob@example.com, x@example.com'] }), {
      contact,
      list: ['one@example.com'],
    })
    const accepted = ['jane', 'ada', 'one', 'bob', 'x'].map(name => `${name}@example.com`)
    expect(output).toMatchObject({ accepted })
  })

  const two = 'ada@example.com, eve@example.com'
  it.each<[field: string, addresses: unknown, put: unknown]>([
    ['to', '{{put}}', two],
    ['to', '{{put}}', 'ada@example.com; eve@example.com'],
    ['to', '{{put}}', 'Team: ada@example.com, eve@example.com;'],
    ['to', '{{put}}', two.split(', ')],
    ['to', ['bob@example.com', '{{put}}'], two],
    ['to', 'bob@example.com, {{put}}', two],
    ['to', '{{put}} <bob@example.com>', 'Ada <eve@example.com>, Ada'],
    ['to', '"{{put}}" <bob@example.com>', 'Ada" <eve@example.com>, "Ada'],
    ['to', '{{put}}', `${'x'.repeat(1_000)}@example.com`],
    ['cc', '{{put}}', two],
    ['bcc', ['{{put}}'], two],
    ['reply_to', '{{put}}', two],
  ])('is not sent where a template puts several addresses into %s: %j, %j', async (field, addresses, put) => {
    const before = mail.mails.length
    const { status, error } = await agent.runNode(node({ [field]: addresses }), { contact, put })
    expect({ status, error }).toEqual({
      status: 'errored',
      error: `${field}: what a template puts in must be one address; write lists into the workflow itself`,
    })
    expect(mail.mails).toHaveLength(before)
  })

  it('is not sent to more than 50 recipients', async () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => `r${index}@example.com`).join()
    expect(await agent.runNode(node({ to: many(20), cc: many(20), bcc: many(10) }))).toMatchObject({
      status: 'complete',
    })
    expect(await agent.runNode(node({ to: many(20), cc: many(20), bcc: many(11) }))).toMatchObject({
      error: 'to: names 51 recipients with cc and bcc; a mail has at most 50',
    })
  })

  it('is refused when it is saved with unknown or ill-typed fields', async () => {
    expect(await agent.save(node({ attachments: [] }), 'draft')).toMatchObject(problem('data.attachments'))
    expect(await agent.save(node({ to: 7 }), 'draft')).toMatchObject(problem('data.to'))
    expect(await agent.save({ type: 'email', to: 'ada@example.com' }, 'draft')).toMatchObject({
      status: 201,
      body: { warnings: [{ field: 'data.subject' }, { field: 'data.body' }] },
    })
  })
})

describe('telegram', () => {
  it('sends a text to a chat', async () => {
    const { output } = await agent.runNode(
      { type: 'telegram', chat_id: '{{contact.chat}}', text: 'Hello {{contact.name}}' },
      { contact },
    )
    expect(output).toEqual({ message_id: expect.any(String), chat_id: '77' })
    expect(telegram.calls('sendMessage').at(-1)?.body).toMatchObject({ chat_id: '77', text: 'Hello Ada' })
  })

  it('says that a contact has to write first', async () => {
    const { status, error } = await agent.runNode({ type: 'telegram', contact_id: 'nobody', text: 'Hello' })
    expect([status, error]).toEqual(['errored', expect.stringContaining('written to the bot')])
  })

  it('waits as long as Telegram asks, and does not try again what is final', async () => {
    telegram.next(telegramRefusal(429, 'Too Many Requests', { retry_after: 3600 }))
    const node = { type: 'telegram', chat_id: '77', text: 'Hello', retries }
    const id = await agent.begin(node)
    await agent.waiting(id, 'node')
    const { waiting_until, started_at } = (await agent.get(id)).body
    expect(Date.parse(waiting_until ?? '') - Date.parse(started_at ?? '')).toBeGreaterThan(3_500_000)
    await agent.terminate(id)
    telegram.next(telegramRefusal(403, 'Forbidden: bot was blocked by the user'))
    expect(await agent.runNode(node)).toMatchObject({
      status: 'errored',
      attempts: 1,
      error: expect.stringContaining('blocked'),
    })
  })

  it('needs one recipient', async () => {
    for (const recipients of [{}, { chat_id: '77', contact_id: 'x' }])
      expect(await agent.save({ type: 'telegram', text: 'Hello', ...recipients })).toMatchObject(
        problem('data.chat_id'),
      )
  })
})

describe('whatsapp', () => {
  it('sends a text', async () => {
    const { output } = await agent.runNode(
      { type: 'whatsapp', to: '{{contact.number}}', text: 'Hello {{contact.name}}' },
      { contact },
    )
    expect(output).toEqual({ message_id: expect.stringMatching(/^wamid/) })
    expect(whatsapp.messages().at(-1)).toMatchObject({ to: '491701234567', text: { body: 'Hello Ada' } })
  })

  it.each(['+49 170 1234567, +49 170 7654321', '491701234567 491707654321', '4917012345671 or so'])(
    'sends nothing to %s, which is not one number',
    async number => {
      const { error } = await agent.runNode({ type: 'whatsapp', to: '{{number}}', text: 'Hello' }, { number })
      expect(error).toBe('to: must be one number, with its country code')
    },
  )

  it('sends a template with parameters as texts', async () => {
    const template = {
      name: 'order_update',
      language: 'en',
      parameters: ['{{contact.name}}', '{{contact.chat}}'],
    }
    await agent.runNode({ type: 'whatsapp', to: '{{contact.number}}', template }, { contact })
    expect(whatsapp.messages().at(-1)).toMatchObject({
      type: 'template',
      template: { name: 'order_update', components: [{ parameters: [{ text: 'Ada' }, { text: '77' }] }] },
    })
  })

  it('says that only a template can be sent now', async () => {
    whatsapp.next(whatsappRefusal(400, 131047, 'Re-engagement message'))
    const { status, error } = await agent.runNode({
      type: 'whatsapp',
      to: '491701234567',
      text: 'Hello',
      retries,
    })
    expect([status, error]).toEqual(['errored', expect.stringContaining('Send a template')])
  })

  it('needs a text or a template', async () => {
    expect(await agent.save({ type: 'whatsapp', to: '1' })).toMatchObject(problem('data.text'))
    const template = { name: 'x', language: 'en', colour: 'red' }
    expect(await agent.save({ type: 'whatsapp', to: '1', template }, 'draft')).toMatchObject(
      problem('data.template.colour'),
    )
  })
})

it('nodes without the credentials of their channel say what is missing', async () => {
  const bare = await stage.newAgent()
  for (const [node, missing] of [
    [{ type: 'email', to: 'ada@example.com', subject: 'a', body: 'b' }, 'smtp_url'],
    [{ type: 'telegram', chat_id: '77', text: 'Hello' }, 'telegram_bot_token'],
    [{ type: 'whatsapp', to: '1', text: 'Hello' }, 'whatsapp_access_token'],
  ] as const)
    expect(await bare.runNode({ ...node, retries })).toMatchObject({
      status: 'errored',
      attempts: 1,
      error: expect.stringContaining(missing),
    })
})
