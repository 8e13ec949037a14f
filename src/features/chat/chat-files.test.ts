/** Files of messages: what is taken, who reaches them, and when they go. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { type Answer, buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { setChatStage, type TurnBody } from '#test/support/chat-stage.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Gateway, startGateway } from '#test/support/gateway.ts'
import { exif, gif, heic, jpeg, place, png, webp } from '#test/support/images.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { openaiToolCall } from '#test/support/model-server.ts'
import { passTime } from '#test/support/pass-time.ts'
import { storedFiles } from '#test/support/stored-files.ts'
import { formOf } from '#test/support/upload.ts'
import type { ChatFile } from './files/chat-files.schema.ts'

type Headers = Record<string, string>
type Parts = Parameters<typeof formOf>[0]

const day = 24 * 60 * 60_000
const fileOf = (content: string | Buffer, name: string, field = 'file'): Parts[number] => [
  field,
  new File([typeof content === 'string' ? content : new Uint8Array(content)], name),
]

let gateway: Gateway
let app: TestApp
/** For tests that look at nothing else there. */
let shared: { agentId: string; chat: string }
const headersOf: Record<string, Headers> = {}

beforeAll(async () => {
  gateway = await startGateway()
  app = await buildApp({ environment: { ...gateway.environment, MAX_UPLOAD_BYTES: '6000000' } })
  for (const who of ['owner', 'viewer', 'ada', 'bob', 'stranger'])
    headersOf[who] = await gateway.headers(`${who}@example.com`)
  shared = await makeChat()
})

afterAll(async () => {
  await app.close()
  await gateway.close()
})

async function makeChat() {
  const agentId = await makeAgent(app, { headers: headersOf.owner ?? {} })
  const give = (email: string, role: 'viewer' | 'chat') =>
    giveRole(app, agentId, { email, role, headers: headersOf.owner ?? {} })
  for (const who of ['ada', 'bob']) await give(`${who}@example.com`, 'chat')
  await give('viewer@example.com', 'viewer')
  return { agentId, chat: `/api/agents/${agentId}/chat` }
}

async function call<Body>(who: string, method: string, path: string, body?: object): Promise<Answer<Body>> {
  return await app.call<Body>(method, path, { headers: headersOf[who] ?? {}, ...(body && { body }) })
}

async function sendForm<Body>(who: string, path: string, parts: Parts): Promise<Answer<Body>> {
  const form = await formOf(parts)
  const headers = { ...headersOf[who], ...form.headers }
  return await app.call<Body>('POST', path, { ...form, headers })
}

async function receive(chat: string, content: string | Buffer, name: string, who = 'ada'): Promise<ChatFile> {
  const { status, body } = await sendForm<ChatFile>(who, `${chat}/files`, [fileOf(content, name)])
  expect(status).toBe(201)
  return body
}

/** Makes room for others: few may wait for their message. */
async function remove(chat: string, ...files: ChatFile[]): Promise<void> {
  for (const { id } of files)
    expect(await call('ada', 'DELETE', `${chat}/files/${id}`)).toMatchObject({ status: 200 })
}

async function send(chat: string, body: object, who = 'ada'): Promise<TurnBody['userMessage']> {
  const answer = await call<TurnBody>(who, 'POST', chat, { autoRag: false, enableTools: false, ...body })
  expect(answer).toMatchObject({ status: 200 })
  return answer.body.userMessage
}

const idle = () => app.service.infrastructure.runner.idle()

/** An image with 20,000 empty parts of one kind behind its beginning. */
function ofManyParts(image: Buffer, at: number, part: string): Buffer {
  const whole = Buffer.concat([
    image.subarray(0, at),
    Buffer.from(part.repeat(20_000), 'hex'),
    image.subarray(at),
  ])
  if (whole.toString('latin1', 0, 4) === 'RIFF') whole.writeUInt32LE(whole.length - 8, 4)
  return whole
}

describe('the kind of a file', () => {
  it.each<[name: string, content: string | Buffer, kind: string, mimeType: string, stored?: string | Buffer]>(
    [
      ['photo.jpg', jpeg(), 'image', 'image/jpeg'],
      ['chart.png', png(), 'image', 'image/png'],
      ['moving.gif', gif(), 'image', 'image/gif'],
      ['small.webp', webp(), 'image', 'image/webp'],
      ['a jpeg.txt', jpeg(), 'image', 'image/jpeg'],
      ['report.png', '%PDF-1.7\n1 0 obj', 'document', 'application/pdf'],
      ['no-picture.jpg', 'Dear Ada,\nhigh tide is at noon.', 'document', 'text/plain'],
      ['README.md', '# Tides', 'document', 'text/markdown'],
      ['tides.CSV', 'place,time\nEmden,12:00', 'document', 'text/csv'],
      ['tides.json', '{"Emden": "12:00"}', 'document', 'application/json'],
      ['page.html', '<!doctype html><svg></svg>', 'document', 'text/plain'],
      [
        'voice.ogg',
        Buffer.from('OggS\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x13OpusHead\x01\x01'),
        'other',
        'audio/ogg; codecs=opus',
      ],
      ['anything.docx', Buffer.from([1, 2, 0, 0, 255, 254, 0, 0, 3]), 'other', 'application/octet-stream'],
      [
        'both.gif',
        gif({ appended: Buffer.from('PK\x03\x04<script>alert(1)</script>') }),
        'image',
        'image/gif',
        gif(),
      ],
    ],
  )('of %s follows from its content', async (name, content, kind, mime_type, stored = content) => {
    const file = await receive(shared.chat, content, name)
    const size = Buffer.byteLength(stored)
    expect(file).toEqual({ id: expect.any(String), name, kind, mime_type, size, status: 'ready' })
    await remove(shared.chat, file)
  })

  it.each<[what: string, content: string | Buffer, status: number, says: string]>([
    ['HEIC', heic(), 415, 'image/heic: save it as JPEG'],
    ['SVG with a script', '<?xml version="1.0"?><svg onload="alert(1)"/>', 415, 'image/svg+xml: save it as'],
    [
      'SVG without a prolog',
      '\n<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>',
      415,
      'image/svg+xml',
    ],
    ['a bitmap', Buffer.concat([Buffer.from('BM'), Buffer.alloc(60)]), 415, 'image/bmp: save it as'],
    ['30,000 pixels', png({ width: 30_000, height: 30_000 }), 400, '30000 × 30000 pixels'],
    ['8,001 pixels', webp({ width: 8001 }), 400, 'Make it smaller'],
    ['a wide GIF', gif({ width: 9000 }), 400, 'Make it smaller'],
    ['a JPEG cut off', jpeg().subarray(0, -2), 400, 'cut off or damaged'],
    ['a JPEG cut off in its header', jpeg({ orientation: 6 }).subarray(0, 70), 400, 'cut off or damaged'],
    ['a PNG cut off', png().subarray(0, -14), 400, 'cut off or damaged'],
    ['a WebP cut off', webp({ orientation: 1 }).subarray(0, -9), 400, 'cut off or damaged'],
    ['a JPEG of many parts', ofManyParts(jpeg(), 2, 'fffe0002'), 400, 'cut off or damaged'],
    ['a PNG of many parts', ofManyParts(png(), 33, '000000007445587400000000'), 400, 'cut off or damaged'],
    ['a WebP of many parts', ofManyParts(webp(), 12, '4558494600000000'), 400, 'cut off or damaged'],
    ['a GIF cut off', gif().subarray(0, -2), 400, 'cut off or damaged'],
    ['a GIF of many parts', ofManyParts(gif(), 19, '21fe00'), 400, 'cut off or damaged'],
    ['a GIF of its first bytes', gif().subarray(0, 8), 400, 'cut off or damaged'],
    ['a large image', Buffer.concat([png(), Buffer.alloc(5_300_000)]), 413, 'This image is larger than'],
    ['a large file', Buffer.alloc(6_000_001, 'a'), 413, 'This file is larger than the 6000000 bytes'],
    ['an empty file', '', 400, 'is empty'],
  ])('that is refused: %s', async (_what, content, status, says) => {
    const { agentId, chat } = shared
    const before = await storedFiles(app, agentId)
    const answer = await sendForm('ada', `${chat}/files`, [fileOf(content, 'photo.jpg')])
    expect(answer).toMatchObject({ status, body: { error: expect.stringContaining(says) } })
    expect(await storedFiles(app, agentId)).toEqual(before)
  })
})

async function bytesOf(chat: string, id: string, who = 'ada'): Promise<Buffer> {
  const { rawPayload } = await app.service.app.inject({
    method: 'GET',
    url: `${chat}/files/${id}`,
    headers: headersOf[who] ?? {},
  })
  return rawPayload
}

describe('an image', () => {
  const motion = Buffer.from(`motion photo ${place}`)
  it.each<[string, Buffer, string, Buffer | undefined]>([
    ['photo.jpg', jpeg({ orientation: 6, appended: motion }), 'ICC_PROFILE', exif(6).subarray(0, 26)],
    ['little.jpg', jpeg({ orientation: 3, isLittle: true }), 'JFIF', exif(3).subarray(0, 26)],
    ['upright.jpg', jpeg({ orientation: 1 }), 'JFIF', undefined],
    ['chart.png', png({ orientation: 6, appended: motion }), 'gAMA', undefined],
    ['small.webp', webp({ orientation: 6 }), 'VP8 ', undefined],
    ['moving.gif', gif({ orientation: 6, appended: motion }), 'NETSCAPE2.0', undefined],
    ['open.gif', gif({ orientation: 6 }).subarray(0, -1), 'NETSCAPE2.0', undefined],
  ])('%s keeps its pixels, and loses where it was taken', async (name, content, kept, turned) => {
    const { chat } = shared
    const file = await receive(chat, content, name)
    const stored = await bytesOf(chat, file.id)
    expect(stored).toHaveLength(file.size)
    const text = stored.toString('latin1')
    expect(text).toContain(kept)
    for (const trace of [place.slice(0, 8), 'Photoshop', 'MPF', 'xmp', 'XMP'])
      expect(text).not.toContain(trace)
    expect(stored.indexOf(turned ?? 'Exif') === -1).toBe(turned === undefined)
    // What is sent again is not changed again.
    const again = await receive(chat, stored, name)
    expect(await bytesOf(chat, again.id)).toEqual(stored)
    await remove(chat, file, again)
  })
})

describe('a message with files', () => {
  it('has them in its metadata, in order, and needs no text', async () => {
    const { chat } = await makeChat()
    const [one, two] = [await receive(chat, png(), 'one.png'), await receive(chat, 'Tides', 'two.txt')]
    const { status, ...attached } = two
    const said = await send(chat, { attachments: [{ id: two.id }, { id: one.id }] })
    expect(said).toMatchObject({ content: '', metadata: { attachments: [attached, { id: one.id }] } })
    const { body } = await call<{ conversations: { title: string }[] }>('ada', 'GET', `${chat}/conversations`)
    expect(body.conversations).toMatchObject([{ title: 'two.txt' }])
    expect(status).toBe('ready')
    const again = await call<TurnBody>('ada', 'POST', `${chat}/messages/${said.id}/regenerate`, {})
    expect(again.body.userMessage.metadata?.attachments).toHaveLength(2)
  })

  it('that is refused leaves files that were received before', async () => {
    const { id } = await receive(shared.chat, 'Tides', 'tides.txt')
    const parts: Parts = [
      ['attachments', JSON.stringify([{ id }])],
      ['conversationId', 'none'],
    ]
    expect((await sendForm('ada', shared.chat, parts)).status).toBe(404)
    expect((await call('ada', 'GET', `${shared.chat}/files/${id}`)).status).toBe(200)
  })

  it('is one form, as curl sends it', async () => {
    const { chat } = await makeChat()
    const parts: Parts = [fileOf(jpeg(), 'a.jpg'), ['content', '"Hi"'], fileOf(png(), 'b.png')]
    const options: Parts = [
      ['stream', 'false'],
      ['autoRag', 'false'],
      ['enableTools', 'false'],
    ]
    const { status, body } = await sendForm<TurnBody>('ada', chat, [...parts, ...options])
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        userMessage: { content: '"Hi"', metadata: { attachments: [{ name: 'a.jpg' }, { name: 'b.png' }] } },
      },
    })
    const [file] = body.userMessage.metadata?.attachments ?? []
    const got = await call('ada', 'GET', `${chat}/files/${file?.id}`)
    expect(got).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'application/octet-stream',
        'content-disposition': "attachment; filename*=UTF-8''a.jpg",
        'content-security-policy': 'sandbox',
        'x-content-type-options': 'nosniff',
      },
    })
  })

  it.each<[what: string, parts: () => Parts, status: number, says: string]>([
    ['without anything', () => [['stream', 'false']], 400, 'content is required'],
    [
      'with a truth value that is none',
      () => [fileOf('x', 'x.txt'), ['stream', 'maybe']],
      400,
      'stream must be',
    ],
    ['with a file in another field', () => [fileOf('x', 'x.txt', 'photo')], 400, 'not a known file field'],
    [
      'with eleven files',
      () => Array.from({ length: 11 }, () => fileOf('x', 'x.txt')),
      400,
      'at most 10 files',
    ],
    ['to no conversation', () => [fileOf('x', 'x.txt'), ['conversationId', 'none']], 404, 'Conversation'],
    ['with U+0000', () => [fileOf('x', 'x.txt'), ['content', 'a\0b']], 400, 'U+0000'],
  ])('as a form %s is refused, and leaves no file', async (_what, parts, status, says) => {
    const { agentId, chat } = shared
    const before = await storedFiles(app, agentId)
    const answer = await sendForm('ada', chat, parts())
    expect(answer).toMatchObject({ status, body: { error: expect.stringContaining(says) } })
    expect(await storedFiles(app, agentId)).toEqual(before)
  })

  it('names files of its sender that no other message has', async () => {
    const { chat } = await makeChat()
    const { chat: elsewhere } = await makeChat()
    const sent = await receive(chat, png(), 'sent.png')
    await send(chat, { attachments: [{ id: sent.id }] })
    const others = [await receive(chat, png(), 'b.png', 'bob'), await receive(elsewhere, png(), 'c.png')]
    const lists = [...[sent, ...others].map(({ id }) => [{ id }]), [{ id: 'none' }]]
    for (const attachments of lists)
      expect(await call('ada', 'POST', chat, { content: 'Hi', attachments })).toMatchObject({
        status: 404,
        body: { error: 'File not found' },
      })
    const many = Array.from({ length: 11 }, (_, index) => ({ id: `${index}` }))
    for (const attachments of [many, [{ id: 'x' }, { id: 'x' }], [{}], 'x'])
      expect(await call('ada', 'POST', chat, { content: 'Hi', attachments })).toMatchObject({ status: 400 })
  })
})

describe('a file', () => {
  it('is there for those who may read its conversation; before it is sent for its sender', async () => {
    const { chat } = await makeChat()
    const { chat: elsewhere } = await makeChat()
    const { id } = await receive(chat, png(), 'one.png')
    const seenBy = async () => {
      const all = Object.keys(headersOf)
      const answers = await Promise.all(all.map(who => call(who, 'GET', `${chat}/files/${id}`)))
      return Object.fromEntries(all.map((who, index) => [who, answers[index]?.status]))
    }
    const nobody = { owner: 404, viewer: 404, ada: 404, bob: 404, stranger: 403 }
    expect(await seenBy()).toEqual({ ...nobody, ada: 200 })
    for (const who of ['owner', 'bob'])
      expect((await call(who, 'DELETE', `${chat}/files/${id}`)).status).toBe(404)
    const { id: messageId } = await send(chat, { attachments: [{ id }] })
    expect(await seenBy()).toEqual({ owner: 200, viewer: 200, ada: 200, bob: 404, stranger: 403 })
    for (const [who, path] of [
      ['viewer', chat],
      ['bob', chat],
      ['owner', elsewhere],
    ] as const)
      expect((await call(who, 'DELETE', `${path}/files/${id}`)).status).toBeOneOf([403, 404])
    expect((await call('owner', 'DELETE', `${chat}/messages/${messageId}`)).status).toBe(200)
    expect(await seenBy()).toEqual(nobody)
  })

  const goes: [how: string, end: (chat: string, of: TurnBody['userMessage']) => Promise<unknown>][] = [
    [
      'itself',
      async (chat, { metadata }) => call('ada', 'DELETE', `${chat}/files/${metadata?.attachments?.[0]?.id}`),
    ],
    ['its message', (chat, { id }) => call('owner', 'DELETE', `${chat}/messages/${id}`)],
    ['its conversation', (chat, of) => call('owner', 'DELETE', `${chat}/conversations/${of.conversationId}`)],
    ['all messages', chat => call('owner', 'DELETE', chat)],
  ]
  it.each(goes)('goes with %s', async (_how, end) => {
    const { agentId, chat } = await makeChat()
    const { id } = await receive(chat, 'Tides', 'one.txt')
    const stays = await receive(chat, 'Ebb', 'two.txt', 'owner')
    const said = await send(chat, { content: 'Hi', attachments: [{ id }] })
    expect(await storedFiles(app, agentId)).toEqual([id, `${id}-passages`, stays.id])
    expect(await end(chat, said)).toMatchObject({ status: 200 })
    await idle()
    expect(await storedFiles(app, agentId)).toEqual([stays.id])
  })

  it('goes with an earlier message that is answered again, and with eviction', async () => {
    const { agentId, chat } = await makeChat()
    await call('owner', 'PUT', `/api/agents/${agentId}/settings`, { conversations_max: 1 })
    const first = await send(chat, { content: 'Hi' })
    const one = await receive(chat, 'Tides', 'one.txt')
    const { conversationId } = first
    await send(chat, { content: 'Look', conversationId, attachments: [{ id: one.id }] })
    await call('ada', 'POST', `${chat}/messages/${first.id}/regenerate`, {})
    await idle()
    expect(await storedFiles(app, agentId)).toEqual([])
    const two = await receive(chat, 'Ebb', 'two.txt')
    await send(chat, { content: 'Look', attachments: [{ id: two.id }] })
    await send(chat, { content: 'Another' })
    await idle()
    expect(await storedFiles(app, agentId)).toEqual([])
  })

  it('goes after a day if it is not sent', async () => {
    const clock = manualClock()
    const dev = await testApp({ clock, environment: { DEV_USER: 'dev@example.com' } })
    const chat = '/api/agents/default/chat'
    const [old, sent] = await Promise.all(
      ['old.txt', 'sent.txt'].map(async name => {
        const form = await formOf([fileOf('Tides', name)])
        return (await dev.call<ChatFile>('POST', `${chat}/files`, form)).body.id
      }),
    )
    const attach = (id: string | undefined) => dev.call('POST', chat, { body: { attachments: [{ id }] } })
    expect(await attach(sent)).toMatchObject({ status: 200 })
    await passTime(dev, clock, day)
    expect(await attach(old)).toMatchObject({ status: 404 })
    expect(await storedFiles(dev)).toHaveLength(3)
    await passTime(dev, clock, day / 24)
    expect(await storedFiles(dev)).toEqual([sent, `${sent}-passages`])
  })
})

it.each<[string, string, boolean]>([
  ['begins', 'approvals', true],
  ['is withdrawn', 'turns', false],
])('a file stays for a message that waits for its turn, until that %s', async (_, place, isSent) => {
  const clock = manualClock()
  await using stage = await setChatStage({ clock })
  const path = await stage.makeChat({ approval_timeout: 2 * 86_400 })
  const tool = { name: 'look', description: 'd', type: 'javascript', requiresApproval: 'always' }
  const configuration = { code: 'return 1' }
  await stage.app.call('POST', path.replace(/chat$/, 'tools'), { body: { ...tool, configuration } })
  stage.model.next({ stream: openaiToolCall('look', {}) })
  const message = { content: 'Hi', autoRag: false, background: true }
  const { userMessage } = (await stage.send(path, message)).body
  const { conversationId } = userMessage
  const approval = async () => {
    const { body } = await stage.app.call<{ approvals: { toolCallId: string }[] }>('GET', `${path}/approvals`)
    return body.approvals[0]?.toolCallId
  }
  await eventually(async () => expect(await approval()).toBeDefined())
  const form = await formOf([fileOf('Tides', 'tides.txt')])
  const { id } = (await stage.app.call<ChatFile>('POST', `${path}/files`, form)).body
  const queued = { ...message, conversationId, on_busy: 'queue', attachments: [{ id }] }
  const { body } = await stage.app.call<{ turn: { id: string } }>('POST', path, { body: queued })
  await passTime(stage.app, clock, day + day / 24)
  const agentId = path.split('/').at(-2) ?? ''
  expect(await storedFiles(stage.app, agentId)).toEqual([id])
  const end = place === 'turns' ? `turns/${body.turn.id}/stop` : `approvals/${await approval()}`
  expect(await stage.app.call('POST', `${path}/${end}`, { body: {} })).toMatchObject({ status: 200 })
  await stage.app.service.infrastructure.runner.idle()
  expect(await storedFiles(stage.app, agentId)).toEqual(isSent ? [id, `${id}-passages`] : [])
  const sent = (await stage.messages(path, conversationId)).filter(({ metadata }) => metadata?.attachments)
  expect(sent).toHaveLength(isSent ? 1 : 0)
})

it('a sender without an identity shares files with all of those', async () => {
  const open = await testApp({ environment: { PUBLIC_ACCESS: 'chat' } })
  const form = await formOf([fileOf(png(), 'one.png')])
  const { body } = await open.call<ChatFile>('POST', '/api/agents/default/chat/files', form)
  const attachments = [{ id: body.id }]
  expect(await open.call('POST', '/api/agents/default/chat', { body: { attachments } })).toMatchObject({
    status: 200,
  })
})
