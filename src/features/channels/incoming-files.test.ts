/** Files that people send on messengers. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { ChatMessage } from '#features/chat/chat.schema.ts'
import { type ChannelAgent, type ChannelStage, setChannelStage } from '#test/support/channel-stage.ts'
import { heldStream } from '#test/support/chat-model.ts'
import { jpeg } from '#test/support/images.ts'
import type { Reply } from '#test/support/model-server.ts'
import { telegramRefusal } from '#test/support/telegram-server.ts'

const second = 1_000
const chat = 77
let stage: ChannelStage
let agent: ChannelAgent

beforeAll(async () => {
  stage = await setChannelStage({ MAX_UPLOAD_BYTES: '5000' })
})

afterAll(() => stage[Symbol.asyncDispose]())

beforeEach(async () => {
  agent = await stage.newAgent({ channel_senders: 'everyone' })
})

const located = (path: string): Reply => ({ json: { ok: true, result: { file_path: path } } })
const ogg = Buffer.from('OggS\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x13OpusHead\x01\x01')

/** The question of the one conversation. */
async function question(channel = 'telegram'): Promise<ChatMessage | undefined> {
  const [conversation] = await agent.conversations(channel)
  return conversation && (await agent.messages(conversation.id))[0]
}

const photo = { photo: [{ file_id: 'small' }, { file_id: 'large' }] }
const letter = { document: { file_id: 'd', file_name: 'tides.txt', mime_type: 'text/plain' } }

it.each<[what: string, fields: object, replies: Reply[], content: string, attached: object[]]>([
  [
    'a document alone',
    letter,
    [located('documents/1.txt'), { text: 'High tide is at noon.' }],
    '',
    [{ name: 'tides.txt', kind: 'document', mime_type: 'text/plain', size: 21 }],
  ],
  [
    'a voice message',
    { voice: { file_id: 'v' }, caption: 'Listen' },
    [located('voice/1.oga'), { text: ogg }],
    'Listen',
    [{ name: 'voice message.ogg', kind: 'other' }],
  ],
  [
    'one that is too large for Telegram',
    { ...letter, caption: 'Read' },
    [telegramRefusal(400, 'Bad Request: file is too big')],
    'Read\n[The person sent a file, which cannot be shown here. Telegram did not give the file: Bad Request: file is too big]',
    [],
  ],
  [
    'one that is too large for the service',
    letter,
    [located('documents/1.txt'), { text: 'x'.repeat(5001) }],
    '[The person sent a file, which cannot be shown here. It is larger than the 5000 bytes that are accepted.]',
    [],
  ],
  [
    'one that is gone',
    letter,
    [located('documents/1.txt'), { status: 404, text: '' }],
    '[The person sent a file, which cannot be shown here. The messenger answered with status 404.]',
    [],
  ],
  [
    'one that is said to be elsewhere',
    letter,
    [located('/etc/../etc/passwd')],
    '[The person sent a file, which cannot be shown here. Telegram did not say where it is.]',
    [],
  ],
])('on Telegram: %s', async (_what, fields, replies, content, attached) => {
  stage.telegram.next(...replies)
  await agent.telegram({ chat, text: undefined, fields })
  await stage.pass(2 * second)
  const message = await question()
  expect(message).toMatchObject({ content, metadata: { tainted: true } })
  expect(message?.metadata?.attachments ?? []).toMatchObject(attached)
  const asked = JSON.stringify(stage.model.questions().at(-1))
  if (fields === letter && attached.length > 0) expect(asked).toContain('High tide is at noon.')
  expect(asked.includes('can’t be heard')).toBe('voice' in fields)
})

const unable = { status: 502, text: 'Bad Gateway' }

it.each<[what: string, replies: Reply[]]>([
  ['Telegram takes no more calls', [telegramRefusal(429, 'Too Many Requests', { retry_after: 3 })]],
  ['Telegram fails to say where it is', [unable]],
  ['Telegram fails to give it', [located('documents/1.txt'), unable]],
  ['it breaks off', [located('documents/1.txt'), { stream: ['High tide'], cut: true }]],
])('a file is tried again while %s', async (_what, replies) => {
  stage.telegram.next(...replies)
  await agent.telegram({ chat, text: undefined, fields: letter })
  await stage.pass(2 * second)
  expect(await question()).toBeUndefined()
  stage.telegram.next(located('documents/1.txt'), { text: 'High tide is at noon.' })
  await stage.pass(4 * second)
  expect(await question()).toMatchObject({ metadata: { attachments: [{ name: 'tides.txt' }] } })
})

it('a file that can’t be had for five minutes is answered without', async () => {
  const pauses = [2, 2, 6, 25, 100, 400]
  stage.telegram.next(...pauses.map(() => unable))
  await agent.telegram({ chat, text: undefined, fields: { ...letter, caption: 'Read' } })
  for (const pause of pauses) {
    expect(await question()).toBeUndefined()
    await stage.pass(pause * second)
  }
  expect((await question())?.content).toMatch(
    /^Read\n\[The person sent a file, .* did not give the file: it answered with status 502/,
  )
})

it('a file waits for the token of a bot that is to be set again', async () => {
  await agent.telegram({ chat, text: undefined, fields: letter })
  await agent.set({ telegram_bot_token: null })
  await stage.pass(2 * second)
  expect(await question()).toBeUndefined()
  stage.telegram.next(located('documents/1.txt'), { text: 'High tide is at noon.' })
  await agent.set({ telegram_bot_token: `${agent.bot}:AAE-bot` })
  await stage.pass(0)
  expect(await question()).toMatchObject({ metadata: { attachments: [{ name: 'tides.txt' }] } })
})

it('pictures of one album are one question, each fetched once in its largest size', async () => {
  stage.telegram.next(located('photos/1.jpg'), { text: jpeg() }, located('photos/2.jpg'), { text: jpeg() })
  await agent.telegram({ chat, text: undefined, fields: { ...photo, caption: 'Where is this?' } })
  await agent.telegram({ chat, text: undefined, fields: photo })
  await stage.pass(2 * second)
  const message = await question()
  expect(message?.content).toBe('Where is this?')
  const pictures = Array.from({ length: 2 }, () => ({ name: 'picture.jpg', kind: 'image' }))
  expect(message?.metadata?.attachments).toMatchObject(pictures)
  const calls = stage.telegram.calls('getFile').filter(({ token }) => token.startsWith(`${agent.bot}:`))
  expect(calls.map(({ body }) => body.file_id)).toEqual(['large', 'large'])
})

it('a file that waits for a conversation in use is fetched once', async () => {
  await agent.telegram({ chat, text: 'Hello' })
  await stage.pass(2 * second)
  const [{ id: conversationId = '' } = {}] = await agent.conversations('telegram')
  const held = heldStream(['Wait'])
  stage.model.next(held.reply)
  const asking = stage.app.call('POST', `${agent.path}/chat`, {
    body: { content: 'Me first', conversationId },
  })
  await held.begun
  stage.telegram.next(located('documents/1.txt'), { text: 'High tide is at noon.' })
  await agent.telegram({ chat, text: undefined, fields: letter })
  await stage.pass(2 * second)
  await stage.pass(second)
  held.open()
  await asking
  await stage.pass(second)
  const messages = await agent.messages(conversationId)
  expect(messages.at(-2)?.metadata?.attachments).toMatchObject([{ name: 'tides.txt' }])
  const calls = stage.telegram.calls('getFile').filter(({ token }) => token.startsWith(`${agent.bot}:`))
  expect(calls).toHaveLength(1)
})

it('on WhatsApp a file is fetched from where WhatsApp says, with the token', async () => {
  const url = `${stage.whatsapp.url}/media/1`
  stage.whatsapp.next(unable, { json: { url } }, { text: 'High tide is at noon.' })
  const document = { id: '55', filename: 'tides.txt', mime_type: 'text/plain', caption: 'Read' }
  await agent.whatsapp({
    id: 'w1',
    from: '491',
    text: '',
    fields: { type: 'document', text: undefined, document },
  })
  await stage.pass(2 * second)
  await stage.pass(2 * second)
  const message = await question('whatsapp')
  expect(message).toMatchObject({ content: 'Read', metadata: { attachments: [{ name: 'tides.txt' }] } })
  const got = stage.whatsapp.requests.filter(({ method }) => method === 'GET')
  expect(got.map(({ path, headers }) => [path, headers.authorization])).toEqual([
    ['/55', 'Bearer EAAG-access'],
    ['/55', 'Bearer EAAG-access'],
    ['/media/1', 'Bearer EAAG-access'],
  ])
  stage.whatsapp.next({ json: { url: 'http://10.0.0.1/media' } })
  const image = { id: '56', mime_type: 'image/jpeg' }
  await agent.whatsapp({ id: 'w2', from: '492', text: '', fields: { type: 'image', text: undefined, image } })
  await stage.pass(2 * second)
  expect((await question('whatsapp'))?.content).toMatch(/^\[The person sent a picture, .*did not say where/)
})
