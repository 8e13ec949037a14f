import { afterEach, expect, test, vi } from 'vitest'
import { parseJson } from '#platform/exact-json.ts'
import { collect, immediately, question } from '#test/support/collect-answer.ts'
import { openaiText, openaiToolCall, type Reply, startModelServer } from '#test/support/model-server.ts'
import type { AnswerPart, FinishPart } from '../language-model/language-model.ts'
import { streamWithRetry } from '../transport/call-with-retry.ts'
import { remoteLanguageModel } from './providers.ts'

afterEach(() => {
  vi.useRealTimers()
})

const tools = [{ type: 'function' as const, name: 'f', inputSchema: {} }]
const refusal = { error: { message: 'm does not support tools', type: 'api_error' } }
const takesTools = (body: unknown) => Reflect.has(Object(body), 'tools')

test.each<[string, Reply]>([
  ['by its status', { status: 400, json: refusal }],
  ['within a stream', { stream: [`data: ${JSON.stringify(refusal)}\n\n`] }],
  ['with status 200', { json: refusal }],
])('a model that refuses tools %s is called without them, once, and so is remembered', async (_, reply) => {
  await using server = await startModelServer(({ body }) =>
    takesTools(body) ? reply : { stream: openaiText('Hi') },
  )
  const parts: AnswerPart[] = []
  async function ask(modelId: string, options = { tools, toolChoice: { type: 'auto' as const } }) {
    const model = await remoteLanguageModel('openai-compatible', modelId, { baseUrl: server.url, fetch })
    const answering = streamWithRetry(model, question('Hello', options), immediately)
    return await collect(take =>
      answering(part => {
        parts.push(part)
        take(part)
      }),
    )
  }
  for (let count = 0; count < 2; count += 1) expect(await ask('m')).toMatchObject({ text: 'Hi' })
  expect(server.requests.map(({ body }) => takesTools(body))).toEqual([true, false, false])
  expect(parts.filter(({ type }) => type === 'finish')).toMatchObject(
    Array.from({ length: 2 }, () => ({ providerMetadata: { tools: { toolsUnsupported: true } } })),
  )
  await ask('other')
  expect(takesTools(server.requests.at(-2)?.body)).toBe(true)
})

test('a model that refuses tools that it was not offered is not called again', async () => {
  await using server = await startModelServer(() => ({ status: 400, json: refusal }))
  const model = await remoteLanguageModel('openai-compatible', 'm', { baseUrl: server.url, fetch })
  const { error } = await collect(streamWithRetry(model, question('Hello'), immediately))
  expect(error).toMatchObject({ message: expect.stringContaining('takes no tools: set') })
  expect(server.requests).toHaveLength(1)
})

const named = (...names: string[]) =>
  names.map(name => ({ type: 'function' as const, name, inputSchema: { type: 'object' as const } }))
const namesIn = (body: unknown) =>
  ((body as { tools?: { function: { name: string } }[] }).tools ?? []).map(({ function: { name } }) => name)

/** Asks a model of a server that refuses requests with the tool `bad_one`; what it was offered, and what the end says. */
async function askAround(
  modelId: string,
  refusal: Reply,
  offered = named('good', 'bad_one', 'other'),
  again = 0,
) {
  await using server = await startModelServer(({ body }) =>
    namesIn(body).includes('bad_one') ? refusal : { stream: openaiText('Hi') },
  )
  const model = await remoteLanguageModel('openai-compatible', modelId, { baseUrl: server.url, fetch })
  let finish: FinishPart | undefined
  let error: unknown
  for (let count = 0; count <= again; count += 1)
    await streamWithRetry(
      model,
      question('Hello', { tools: offered, toolChoice: { type: 'auto' } }),
      immediately,
    )(part => {
      if (part.type === 'finish') finish = part
    }).catch(thrown => {
      error = thrown
    })
  return {
    offers: server.requests.map(({ body }) => namesIn(body)),
    said: finish?.providerMetadata?.tools,
    error,
  }
}

const all = ['good', 'bad_one', 'other']
const without = { offers: [all, ['good', 'other']], said: { toolsRefused: ['bad_one'] }, error: undefined }
const refusedWith = (message: string, status = 400, more: object = {}): Reply => ({
  status,
  json: { error: { message, type: 'invalid_request_error', ...more } },
})

test.each<[string, Reply]>([
  [
    'OpenAI, by name',
    refusedWith("Invalid schema for function 'bad_one': In context=(), object schema missing properties."),
  ],
  [
    'OpenAI, by place',
    refusedWith(
      "Invalid 'tools[1].function.description': string too long. Expected a string with maximum length 1024.",
    ),
  ],
  [
    'Anthropic',
    refusedWith(
      "tools.1.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
    ),
  ],
  [
    'Gemini',
    refusedWith(
      'Unable to submit request: tools[0].function_declarations[1].parameters.required[0]: property is not defined',
    ),
  ],
  [
    'vLLM',
    refusedWith(
      '1 validation error: body.tools.1.function.parameters Input should be a valid dictionary',
      422,
    ),
  ],
  [
    'llama.cpp',
    refusedWith('JSON schema conversion failed for tool bad_one: Unrecognized schema', 500, {
      type: 'server_error',
    }),
  ],
  [
    'within a stream',
    {
      stream: [
        `data: ${JSON.stringify({ error: { message: 'Invalid schema for function "bad_one"', code: 400 } })}\n\n`,
      ],
    },
  ],
])('a tool that is refused is left out, and the answer says so: %s', async (name, refusal) => {
  expect(await askAround(`names ${name}`, refusal)).toEqual(without)
})

test.each<[string, Reply]>([
  ['unclear', refusedWith('Bad request')],
  ['about another one', refusedWith('Invalid schema for function "unheard_of"')],
  ['about a grammar', refusedWith('failed to parse grammar', 500)],
])(
  'if a refusal names no tool, the model answers without any, and others keep theirs: %s',
  async (name, refusal) => {
    expect(await askAround(`unnamed ${name}`, refusal)).toEqual({
      offers: [all, []],
      said: { toolsUnsupported: true },
      error: undefined,
    })
  },
)

test('a tool that was refused is not offered again; without a name, all are', async () => {
  const once = await askAround(
    'remembers',
    refusedWith('Invalid schema for function "bad_one"'),
    undefined,
    1,
  )
  expect(once.offers).toEqual([all, ['good', 'other'], ['good', 'other']])
  const unnamed = await askAround('remembers unnamed', refusedWith('Bad request'), undefined, 1)
  expect(unnamed.offers).toEqual([all, [], all, []])
})

test.each<[string, Reply, string, number]>([
  ['a wrong key', refusedWith('Incorrect API key provided', 401), 'refused the configured key', 1],
  [
    'a prompt that is too long',
    refusedWith('maximum context length is 8192 tokens, 100 in the functions'),
    'too long',
    1,
  ],
  ['an unknown model', refusedWith('The model `m` does not exist', 404), 'has no model', 1],
  ['a failing server', refusedWith('Internal error', 500), 'is failing', 3],
])('a refusal for another reason stays one: %s', async (name, refusal, sentence, requests) => {
  const { offers, error } = await askAround(`other ${name}`, refusal)
  expect(error).toMatchObject({ message: expect.stringContaining(sentence) })
  expect(offers).toEqual(Array.from({ length: requests }, () => all))
})

test.each([
  ['claude-x', '$top', '{"top":"a"}', '{"$top":"a"}'],
  ['claude-x', 'filter[id]', '{"filter_id_":{"filter_id_":2}}', '{"filter[id]":{"filter_id_":2}}'],
  ['gemini-x', 'x-id', '{"x_id":12345678901234567890}', '{"x-id":12345678901234567890}'],
  ['m', '$top', '{"$top":1}', '{"$top":1}'],
])(
  'the arguments of a call to %s have the names of the tool: %s',
  async (modelId, name, called, restored) => {
    await using server = await startModelServer(() => ({ stream: openaiToolCall('f', parseJson(called)) }))
    const model = await remoteLanguageModel('openai-compatible', modelId, { baseUrl: server.url, fetch })
    const inputSchema = { type: 'object' as const, properties: { [name]: {} } }
    const options = { tools: [{ type: 'function' as const, name: 'f', inputSchema }] }
    const { toolCalls } = await collect(streamWithRetry(model, question('Hello', options), immediately))
    expect(toolCalls.map(({ input }) => input)).toEqual([restored])
  },
)

test('what is refused is remembered for ten minutes', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'Date', 'setTimeout', 'clearTimeout'] })
  const refusal = refusedWith('m does not support tools')
  await using server = await startModelServer(({ body }) =>
    namesIn(body).length > 0 ? refusal : { stream: openaiText('Hi') },
  )
  const model = await remoteLanguageModel('openai-compatible', 'forgetful', { baseUrl: server.url, fetch })
  const ask = () => collect(streamWithRetry(model, question('Hello', { tools: named('f') }), immediately))
  await ask()
  vi.advanceTimersByTime(10 * 60_000 - 10)
  await ask()
  vi.advanceTimersByTime(20)
  await ask()
  expect(server.requests.map(({ body }) => namesIn(body).length)).toEqual([1, 0, 0, 1, 0])
})
