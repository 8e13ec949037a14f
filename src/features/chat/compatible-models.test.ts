/** What the models of compatible servers show besides an answer, as callers of the chat see it. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { openaiChunk, openaiText, openaiToolCall, type Reply, wireForm } from '#test/support/model-server.ts'
import { openStream } from '#test/support/open-stream.ts'

let stage: ChatStage

beforeAll(async () => {
  stage = await setChatStage()
})

afterAll(() => stage[Symbol.asyncDispose]())

const streamed = (...chunks: object[]): Reply => ({ stream: wireForm('openai', chunks) })
const lastQuestion = () => stage.model.questions().at(-1)

async function answerTo(reply: Reply, settings?: object) {
  const path = await stage.makeChat(settings)
  stage.model.next(reply)
  const { body, status } = await stage.send(path, { content: 'Hello' })
  return { path, status, ...body }
}

it.each<[string, Reply, string | undefined]>([
  ['in a block', { stream: openaiText('<think>secret ', 'plan</think>\n\nHi') }, 'secret plan'],
  [
    'in a block without its beginning',
    { stream: openaiText('secret ', 'plan\n</think>\n\nHi') },
    'secret plan',
  ],
  ['in an empty block', { stream: openaiText('<think>\n\n</think>\n\nHi') }, undefined],
  [
    'in a field',
    streamed(openaiChunk({ reasoning_content: 'secret plan' }), openaiChunk({ content: 'Hi' }, 'stop')),
    'secret plan',
  ],
])('thoughts %s are kept beside the answer, and not sent back', async (_, reply, reasoning) => {
  const { path, assistantMessage } = await answerTo(reply)
  expect(assistantMessage.content).toBe('Hi')
  expect(assistantMessage.metadata?.reasoning).toBe(reasoning)
  await stage.send(path, { content: 'Again', conversationId: assistantMessage.conversationId })
  expect(lastQuestion()?.messages.slice(1)).toEqual([
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hi' },
    { role: 'user', content: expect.stringContaining('Again') },
  ])
})

it('thoughts are kept up to 32 KB, without a torn character', async () => {
  const chunks = Array.from({ length: 20 }, () => openaiChunk({ reasoning: '€'.repeat(1000) }))
  const { assistantMessage } = await answerTo(streamed(...chunks, openaiChunk({ content: 'Hi' }, 'stop')))
  expect(assistantMessage.metadata?.reasoning).toBe('€'.repeat(Math.floor((32 * 1024) / 3)))
})

it('a stream says when what it sent were thoughts', async () => {
  const path = await stage.makeChat({ llm_model: 'shows-thoughts' })
  stage.model.next({ stream: openaiText('secret plan\n', '</think>\n\nHi') })
  const url = await stage.app.listen()
  const answer = await openStream(`${url}${path}`, { content: 'Hello', model: 'shows-thoughts' })
  expect(await answer.rest()).toMatchObject([
    { type: 'message_start' },
    { type: 'thinking' },
    { type: 'content_delta', delta: 'secret plan\n' },
    { type: 'content_replaced', content: '' },
    { type: 'content_delta', delta: 'Hi' },
    { type: 'message_complete' },
  ])
})

it('an answer of a model that takes no tools says so', async () => {
  const refused = { status: 400, json: { error: { message: 'x does not support tools', type: 'api_error' } } }
  const path = await stage.makeChat({ llm_model: 'without-tools' })
  stage.model.next(refused)
  const { body } = await stage.send(path, { content: 'Hello' })
  expect(body.assistantMessage.metadata).toMatchObject({ toolsUnsupported: true })
  expect(lastQuestion()).not.toHaveProperty('tools')
})

it('a tool that the provider refuses does not end the chats of its agent, and the answer names it', async () => {
  const path = await stage.makeChat({ llm_model: 'particular' })
  await stage.app.call('POST', path.replace('/chat', '/tools'), {
    body: { name: 'odd_one', type: 'javascript', configuration: { code: 'return 1' } },
  })
  stage.model.next({ status: 400, json: { error: { message: "Invalid schema for function 'odd_one'" } } })
  const { body, status } = await stage.send(path, { content: 'Hello' })
  expect(status).toBe(200)
  expect(body.assistantMessage.metadata).toMatchObject({ toolsRefused: ['odd_one'] })
  expect(body.assistantMessage.metadata).not.toHaveProperty('toolsUnsupported')
  expect(JSON.stringify(lastQuestion()?.tools)).not.toContain('odd_one')
  expect(lastQuestion()?.tools).not.toHaveLength(0)
})

it('arguments that had to be changed are named in the result, to the model and to people', async () => {
  const path = await stage.makeChat()
  const parameters = { type: 'object', properties: { n: { type: 'integer' } } }
  const configuration = { code: 'return args.n + 1', parameters }
  await stage.app.call('POST', path.replace('/chat', '/tools'), {
    body: { name: 'next', type: 'javascript', configuration },
  })
  stage.model.next({ stream: openaiToolCall('next', { n: '5' }) })
  const { body } = await stage.send(path, { content: 'Hello' })
  const coerced = ['n (text) was read as integer']
  expect(body.assistantMessage.toolResults).toMatchObject([{ result: 6, coerced }])
  expect(JSON.stringify(lastQuestion()?.messages)).toContain(coerced[0])
})

it('an agent whose llm_tools is off offers none', async () => {
  const { path, assistantMessage } = await answerTo({ stream: openaiText('Hi') }, { llm_tools: 'off' })
  expect(lastQuestion()).not.toHaveProperty('tools')
  expect(assistantMessage.metadata).not.toHaveProperty('toolsUnsupported')
  const settings = path.replace('/chat', '/settings')
  const set = (llm_tools: unknown) =>
    stage.app.call<{ settings: object }>('PUT', settings, { body: { llm_tools } })
  expect((await set('auto')).body.settings).toMatchObject({ llm_tools: 'auto' })
  await stage.send(path, { content: 'Hello' })
  expect(lastQuestion()).toHaveProperty('tools')
  for (const wrong of ['on', true, '']) expect((await set(wrong)).status).toBe(400)
})

it('a prompt begins with the user and alternates, whatever was deleted', async () => {
  const { path, userMessage, assistantMessage } = await answerTo({ stream: openaiText('One') })
  const more = { conversationId: assistantMessage.conversationId, enableTools: false, autoRag: false }
  const second = await stage.send(path, { content: 'second', ...more })
  const remove = (id: string) => stage.app.call('DELETE', `${path}/messages/${id}`)
  await remove(userMessage.id)
  await remove(second.body.userMessage.id)
  await stage.send(path, { content: 'third', ...more })
  expect(lastQuestion()?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
})
