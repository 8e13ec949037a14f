/** Images of messages, as they arrive at the models of all providers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, testApp } from '#test/support/build-app.ts'
import { refusal } from '#test/support/chat-model.ts'
import { type ChatStage, setChatStage, type TurnBody } from '#test/support/chat-stage.ts'
import { gif, jpeg, place, png, webp } from '#test/support/images.ts'
import { openaiText, openaiToolCall, startModelServer, wireForm } from '#test/support/model-server.ts'
import { formOf } from '#test/support/upload.ts'

let stage: ChatStage
beforeAll(async () => {
  stage = await setChatStage()
  stage.model.list({ json: { data: [{ id: 'small', context_length: 8192 }] } })
})
afterAll(() => stage[Symbol.asyncDispose]())

type Pictures = [name: string, content: Buffer][]

async function send(
  { app }: Pick<ChatStage, 'app'>,
  path: string,
  files: Pictures,
  fields: Record<string, string>,
): Promise<Answer<TurnBody>> {
  const form = await formOf([
    ...Object.entries({ autoRag: 'false', enableTools: 'false', ...fields }),
    ...files.map(([name, content]): [string, File] => ['file', new File([new Uint8Array(content)], name)]),
  ])
  return await app.call<TurnBody>('POST', path, form)
}

const latest = () =>
  stage.model
    .questions()
    .at(-1)
    ?.messages.filter(({ role }) => role === 'user') ?? []

describe('every provider is sent images', () => {
  const anthropicText = wireForm('anthropic', [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'A tide.' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 3 },
    },
    { type: 'message_stop' },
  ])
  const geminiText = wireForm('gemini', [
    {
      candidates: [
        { content: { parts: [{ text: 'A tide.' }], role: 'model' }, index: 0, finishReason: 'STOP' },
      ],
    },
  ])
  const url = (mime: string, data: string) => ({
    type: 'image_url',
    image_url: { url: `data:${mime};base64,${data}` },
  })

  it.each<[provider: string, model: string, answer: string[], part: (mime: string, data: string) => object]>([
    ['openai', 'gpt-4o', openaiText('A tide.'), url],
    ['openai-compatible', 'llava', openaiText('A tide.'), url],
    [
      ...(['anthropic', 'claude-opus-5', anthropicText] as const),
      (media_type, data) => ({ type: 'image', source: { type: 'base64', media_type, data } }),
    ],
    [
      ...(['google', 'gemini-2.5-pro', geminiText] as const),
      (mimeType, data) => ({ inlineData: { mimeType, data } }),
    ],
  ])('%s', async (provider, modelId, stream, part) => {
    await using server = await startModelServer(({ method }) =>
      method === 'GET' ? { status: 404 } : { stream },
    )
    const name = provider.toUpperCase().replace('-', '_')
    const key = provider === 'google' ? 'GOOGLE_GENERATIVE_AI_API_KEY' : `${name}_API_KEY`
    const version = provider === 'google' ? 'v1beta' : 'v1'
    const app = await testApp({
      environment: {
        [key]: 'sk-1',
        [`${name}_BASE_URL`]: `${server.url}/${version}`,
        DEV_USER: 'dev@example.com',
        DEFAULT_PROVIDER: provider,
        DEFAULT_MODEL: modelId,
      },
    })
    const path = '/api/agents/default/chat'
    const pictures: Pictures = [
      ['a.jpg', jpeg({ orientation: 6 })],
      ['b.png', png({ orientation: 6 })],
      ['c.gif', gif({ orientation: 6 })],
      ['d.webp', webp({ orientation: 6 })],
    ]
    const { status, body } = await send({ app }, path, pictures, { content: 'What is it?' })
    expect({ status, body }).toMatchObject({ status: 200 })
    const asked = JSON.stringify(server.requests.at(-1)?.body)
    for (const { id, mime_type } of body.userMessage.metadata?.attachments ?? []) {
      const { rawPayload } = await app.service.app.inject({ method: 'GET', url: `${path}/files/${id}` })
      expect(asked).toContain(JSON.stringify(part(mime_type, rawPayload.toString('base64'))).slice(1, -1))
      expect(rawPayload.toString('latin1')).not.toContain(place)
    }
    expect(body.userMessage.metadata?.attachments).toHaveLength(4)
  })
})

it('the newest images are sent that fit, and older ones give way before text', async () => {
  const path = await stage.makeChat({ llm_model: 'small' })
  const first = await send(stage, path, [['one.png', png()]], { content: 'First' })
  const { conversationId } = first.body.userMessage
  await send(stage, path, [['two.png', png()]], { content: 'Second', conversationId })
  expect(latest()).toMatchObject([
    { content: [{ type: 'image_url' }, { text: 'First' }] },
    { content: [{ type: 'image_url' }, { text: 'Second' }] },
  ])
  await send(stage, path, [['three.png', png()]], { content: 'Third', conversationId })
  expect(latest()).toMatchObject([
    { content: '[image: one.png]\n\nFirst' },
    { content: [{ type: 'image_url' }, { text: 'Second' }] },
    { content: [{ type: 'image_url' }, { text: 'Third' }] },
  ])
  const text = 'x'.repeat(7000)
  await send(stage, path, [], { content: text, conversationId })
  expect(latest().slice(1)).toMatchObject([
    { content: '[image: two.png]\n\nSecond' },
    { content: [{ type: 'image_url' }, { text: 'Third' }] },
    { content: text },
  ])
  await stage.app.call('POST', `${path}/messages/${first.body.userMessage.id}/regenerate`, { body: {} })
  expect(latest()).toMatchObject([{ content: [{ type: 'image_url' }, { text: 'First' }] }])
})

it('an image alone is a question, other files are named, and a deleted one is not shown', async () => {
  const path = await stage.makeChat()
  const { body } = await send(
    stage,
    path,
    [
      ['a.png', png()],
      ['b.zip', Buffer.from('PK\x05\x06'.padEnd(22, '\0'))],
    ],
    {},
  )
  const [image] = body.userMessage.metadata?.attachments ?? []
  expect(latest()).toMatchObject([
    { content: [{ type: 'image_url' }, { text: '[file: b.zip (application/zip), which is not shown]' }] },
  ])
  expect(body.assistantMessage.metadata?.tainted).toBe(true)
  expect((await stage.app.call('DELETE', `${path}/files/${image?.id}`)).status).toBe(200)
  await send(stage, path, [], { content: 'And?', conversationId: body.userMessage.conversationId })
  expect(latest()[0]?.content).toMatch(/^\[image: a.png\]\n\n\[file: b.zip/)
})

describe('a model that takes no images', () => {
  const refused = refusal(400, 'This model does not support image input.')

  it('is an error that keeps the message, and later answers by their names', async () => {
    const path = await stage.makeChat({ llm_model: 'blind' })
    stage.model.next(refused)
    const answer = await send(stage, path, [['a.png', png()]], { content: 'What is it?' })
    const sentence = 'The model "blind" can\'t see images: choose one that can'
    expect(answer).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining(sentence), code: 'IMAGES_UNSUPPORTED' },
    })
    const [kept] = await stage.messages(path)
    expect(kept).toMatchObject({ content: 'What is it?', metadata: { attachments: [{ name: 'a.png' }] } })
    stage.model.next(refused)
    const stream = await stage.app.call<string>('POST', `${path}/messages/${kept?.id}/regenerate`, {
      body: { stream: true },
    })
    expect(stream.body).toContain('"code":"IMAGES_UNSUPPORTED"')
    const conversationId = kept?.conversationId ?? ''
    const asked = stage.model.questions().length
    expect(await send(stage, path, [], { content: 'Hello?', conversationId })).toMatchObject({ status: 200 })
    expect(stage.model.questions()).toHaveLength(asked + 1)
    expect(JSON.stringify(latest())).toContain('[image: a.png]')
    const seeing = { body: { model: 'openai-compatible/seeing' } }
    await stage.app.call('POST', `${path}/messages/${kept?.id}/regenerate`, seeing)
    expect(latest()).toMatchObject([{ content: [{ type: 'image_url' }, { text: 'What is it?' }] }])
  })

  it('answers at once where only earlier messages have images, also within a turn with tools', async () => {
    const path = await stage.makeChat({ llm_model: 'seeing' })
    const { body } = await send(stage, path, [['a.png', png()]], { content: 'What is it?' })
    const { conversationId } = body.userMessage
    stage.model.next(refused, { stream: openaiToolCall('search_knowledge', { query: 'tide' }) })
    const options = { model: 'openai-compatible/another-blind', enableTools: 'true' }
    const answer = await send(stage, path, [], { content: 'And?', conversationId, ...options })
    expect(answer).toMatchObject({ status: 200, body: { assistantMessage: { toolCalls: [{}] } } })
    expect(latest()).toMatchObject([{ content: '[image: a.png]\n\nWhat is it?' }, { content: 'And?' }])
  })

  it.each([
    ['', 'I can’t see images'],
    ['hello', 'I can’t see images'],
  ])('is the built-in retriever, which says so to "%s"', async (content, says) => {
    const path = await stage.makeChat({ llm_provider: 'builtin' })
    const { body } = await send(stage, path, [['a.png', png()]], content === '' ? {} : { content })
    expect(body.assistantMessage.content).toMatch(new RegExp(`^${says}`))
  })
})

it('the list of models says which see images, where that is known', async () => {
  const list = [
    { id: 'o/sees', architecture: { input_modalities: ['text', 'image'] } },
    { id: 'o/blind', architecture: { input_modalities: ['text'] } },
    { id: 'pixtral', capabilities: { vision: true } },
    { id: 'codestral', capabilities: { vision: false } },
    { id: 'qwen-vl', type: 'vlm' },
    { id: 'unknown' },
  ]
  await using server = await startModelServer(({ path }) => ({
    json: path.startsWith('/v1/')
      ? { data: list }
      : { data: [{ id: 'gpt-5' }, { id: 'gpt-3.5-turbo' }, { id: 'o3' }] },
  }))
  const app = await testApp({
    environment: {
      OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`,
      OPENAI_BASE_URL: `${server.url}/openai`,
      OPENAI_API_KEY: 'sk-1',
      DEV_USER: 'dev@example.com',
    },
  })
  const { body } = await app.call<{ models: { id: string; supportsImages?: boolean }[] }>(
    'GET',
    '/api/agents/default/chat/models',
  )
  expect(Object.fromEntries(body.models.map(({ id, supportsImages }) => [id, supportsImages]))).toEqual({
    'o/sees': true,
    'o/blind': false,
    pixtral: true,
    codestral: false,
    'qwen-vl': true,
    unknown: undefined,
    'gpt-5': true,
    'gpt-3.5-turbo': false,
    o3: true,
    builtin: undefined,
  })
})
