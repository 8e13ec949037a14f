import { describe, expect, test } from 'vitest'
import { collect, immediately, question } from '#test/support/collect-answer.ts'
import { type ModelServer, openaiText, startModelServer } from '#test/support/model-server.ts'
import { createAnswerMessage } from '../language-model/answer-message.ts'
import type { CallOptions } from '../language-model/language-model.ts'
import { streamWithRetry } from '../transport/call-with-retry.ts'
import { openai } from './openai.ts'
import { remoteLanguageModel } from './providers.ts'

const publicAddress = 'https://api.openai.com/v1'
const search = {
  type: 'function' as const,
  name: 'search',
  inputSchema: { type: 'object' as const, properties: {} },
}
const call: CallOptions = question('Hello', { tools: [search] })

/** A fetch that takes the public address for the server's. */
function redirectedTo(server: ModelServer): typeof fetch {
  return (input, init) => fetch(String(input).replace('https://api.openai.com', server.url), init)
}

async function ask(
  server: ModelServer,
  modelId: string,
  options: CallOptions = call,
  baseUrl = publicAddress,
) {
  const endpoint = { baseUrl, apiKey: 'key', fetch: redirectedTo(server) }
  return streamWithRetry(await remoteLanguageModel('openai', modelId, endpoint), options, immediately)
}

const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'search' }
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] }
const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'gpt-6.1-sol' }
const usage = {
  input_tokens: 5,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 3 },
}

/** A model that thinks and then calls a tool, as `/responses` streams it. */
const thoughtAndCall = [
  { type: 'response.created', response },
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { ...reasoning, encrypted_content: 'c2VhbGVk' },
  },
  {
    type: 'response.output_item.done',
    output_index: 0,
    item: { ...reasoning, encrypted_content: 'c2VhbGVk' },
  },
  { type: 'response.output_item.added', output_index: 1, item: { ...item, arguments: '' } },
  { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: '{"a":' },
  { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: '1}' },
  {
    type: 'response.output_item.done',
    output_index: 1,
    item: { ...item, arguments: '{"a":1}', status: 'completed' },
  },
  { type: 'response.completed', response: { ...response, usage } },
].map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

const text = [
  { type: 'response.created', response },
  { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1' } },
  { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Done.' },
  { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'msg_1' } },
  { type: 'response.completed', response: { ...response, usage } },
].map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

describe('which of its two interfaces OpenAI is asked through', () => {
  test.each([
    ['gpt-5.4-mini', '/v1/chat/completions'],
    ['gpt-4o', '/v1/chat/completions'],
    ['o4-mini', '/v1/chat/completions'],
    ['gpt-5.6-terra', '/v1/responses'],
    ['gpt-6-luna', '/v1/responses'],
    ['gpt-6.1-sol', '/v1/responses'],
    ['gpt-10', '/v1/responses'],
  ])('%s at the public address: %s', async (modelId, path) => {
    await using server = await startModelServer(request => ({
      stream: request.path === '/v1/responses' ? text : openaiText('Done.'),
    }))
    expect(await collect(await ask(server, modelId))).toMatchObject({ text: 'Done.', error: undefined })
    expect(server.requests.map(request => request.path)).toEqual([path])
  })

  test('a gateway is asked through chat completions, whatever the model', async () => {
    await using server = await startModelServer(() => ({ stream: openaiText('Done.') }))
    await collect(await ask(server, 'gpt-6.1-sol', call, `${server.url}/v1`))
    expect(server.requests[0]?.path).toBe('/v1/chat/completions')
  })
})

test('a turn of two calls goes through /responses: nothing is stored, reasoning and call come back as they were', async () => {
  await using server = await startModelServer((_, index) => ({ stream: index === 0 ? thoughtAndCall : text }))
  const answer = createAnswerMessage()
  const thinking = await ask(server, 'gpt-6.1-sol')
  await thinking(answer.add)
  const output = { type: 'text' as const, value: 'found' }
  const result = { type: 'tool-result' as const, toolCallId: 'call_1', toolName: 'search', output }
  const prompt = [...call.prompt, answer.message(), { role: 'tool' as const, content: [result] }]
  expect(await collect(await ask(server, 'gpt-6.1-sol', { ...call, prompt }))).toMatchObject({
    text: 'Done.',
  })

  const [first, second] = server.requests.map(request => request.body)
  expect(first).toMatchObject({ store: false, tools: [{ type: 'function', name: 'search' }] })
  expect(second).toMatchObject({
    store: false,
    input: [
      { role: 'user' },
      { type: 'reasoning', encrypted_content: 'c2VhbGVk' },
      { type: 'function_call', call_id: 'call_1', name: 'search', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'found' },
    ],
  })
})

describe('the list of models', () => {
  test('holds those that chat, a gateway’s among them', () => {
    const chatting = [
      'gpt-5.4-mini',
      'o3',
      'chatgpt-4o-latest',
      'ft:gpt-4o:me',
      'llama-3-instruct',
      'gemini-2.5-pro',
    ]
    const others = `text-embedding-3-small whisper-1 tts-1 dall-e-3 omni-moderation-latest sora-2 babbage-002 davinci-002
      gpt-image-2 chatgpt-image-latest gpt-4o-realtime-preview gpt-audio gpt-4o-mini-tts gpt-4o-transcribe o1-pro gpt-5-pro
      gpt-3.5-turbo-instruct gpt-5-codex codex-mini-latest o3-deep-research gpt-4o-search-preview computer-use-preview`
    const data = [...chatting, ...others.split(/\s+/)].map(id => ({
      id,
      object: 'model',
      owned_by: 'openai',
    }))
    expect(openai.readList({ object: 'list', data }).map(model => model.id)).toEqual(chatting)
  })

  test.each([undefined, null, 'text', [], {}, { data: 7 }, { data: [null, 1, {}, { id: 5 }, { id: '' }] }])(
    'an unexpected body (%j) holds none',
    body => expect(openai.readList(body)).toEqual([]),
  )
})
