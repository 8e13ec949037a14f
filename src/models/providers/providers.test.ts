/** Every provider over HTTP, against a server that speaks its wire form. */
import { describe, expect, test } from 'vitest'
import { collect, immediately, question } from '#test/support/collect-answer.ts'
import {
  openaiChunk,
  openaiText,
  openaiToolCall,
  type Reply,
  startModelServer,
  wireForm,
} from '#test/support/model-server.ts'
import type { CallOptions } from '../language-model/language-model.ts'
import { streamWithRetry } from '../transport/call-with-retry.ts'
import type { RemoteProvider } from './provider.ts'
import { remoteLanguageModel } from './providers.ts'

const secret = 'sk-test-0123456789'

/** What a provider sends and expects on the wire. */
interface Dialect {
  path: string
  keyHeader: [name: string, value: string]
  text: string[]
  toolCall: string[]
  refusal: string[]
  /** Status and body of an error. */
  noSuchModel: [number, unknown]
  wrongKey: [number, unknown]
  error(type: string, message: string): unknown
  /** An error in the stream, before any part of the answer. */
  overloadedStream: string[]
}

const openaiError = (type: string, message: string, code: string | null = null) => ({
  error: { message, type, param: null, code },
})

const openaiDialect: Dialect = {
  path: '/v1/chat/completions',
  keyHeader: ['authorization', `Bearer ${secret}`],
  text: openaiText('Hello', ', ', 'world'),
  toolCall: openaiToolCall('search_knowledge', { query: 'zero "calibration"' }),
  refusal: wireForm('openai', [
    openaiChunk({ refusal: "I can't " }),
    openaiChunk({ refusal: 'help.' }, 'stop'),
  ]),
  noSuchModel: [
    404,
    openaiError('invalid_request_error', 'The model `m-1` does not exist', 'model_not_found'),
  ],
  wrongKey: [
    401,
    openaiError('invalid_request_error', `Incorrect API key provided: ${secret}.`, 'invalid_api_key'),
  ],
  error: openaiError,
  overloadedStream: wireForm('openai', [openaiError('server_error', 'overloaded')]),
}

const anthropicStart = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm-1',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
}
const anthropicEnd = (stop_reason: string) => [
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 3 } },
  { type: 'message_stop' },
]
const anthropicDelta = (delta: object) => ({ type: 'content_block_delta', index: 0, delta })
const anthropicText = (pieces: string[], stop: string) =>
  wireForm('anthropic', [
    anthropicStart,
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...pieces.map(text => anthropicDelta({ type: 'text_delta', text })),
    ...anthropicEnd(stop),
  ])
const anthropicError = (type: string, message: string) => ({ type: 'error', error: { type, message } })

const anthropicDialect: Dialect = {
  path: '/v1/messages',
  keyHeader: ['x-api-key', secret],
  text: anthropicText(['Hello', ', ', 'world'], 'end_turn'),
  toolCall: wireForm('anthropic', [
    anthropicStart,
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'search_knowledge', input: {} },
    },
    anthropicDelta({ type: 'input_json_delta', partial_json: '{"query":"zero ' }),
    anthropicDelta({ type: 'input_json_delta', partial_json: '\\"calibration\\""}' }),
    ...anthropicEnd('tool_use'),
  ]),
  refusal: anthropicText(["I can't ", 'help.'], 'refusal'),
  noSuchModel: [404, anthropicError('not_found_error', 'model: m-1')],
  wrongKey: [401, anthropicError('authentication_error', `invalid x-api-key ${secret}`)],
  error: anthropicError,
  overloadedStream: wireForm('anthropic', [anthropicError('overloaded_error', 'Overloaded')]),
}

const geminiChunk = (parts: object[], finishReason?: string) => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...(finishReason && { finishReason }) }],
})
const geminiError = (status: string, message: string, code = 400) => ({ error: { code, message, status } })

const googleDialect: Dialect = {
  path: '/v1beta/models/m-1:streamGenerateContent?alt=sse',
  keyHeader: ['x-goog-api-key', secret],
  text: wireForm('gemini', [geminiChunk([{ text: 'Hello' }]), geminiChunk([{ text: ', world' }], 'STOP')]),
  toolCall: wireForm('gemini', [
    geminiChunk([
      {
        functionCall: { name: 'search_knowledge', args: { query: 'zero "calibration"' } },
        thoughtSignature: 'c2ln',
      },
    ]),
    geminiChunk([{ text: '' }], 'STOP'),
  ]),
  refusal: wireForm('gemini', [geminiChunk([{ text: "I can't help." }], 'SAFETY')]),
  noSuchModel: [404, geminiError('NOT_FOUND', 'models/m-1 is not found for API version v1beta', 404)],
  wrongKey: [400, geminiError('INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.')],
  error: geminiError,
  overloadedStream: wireForm('gemini', [geminiError('UNAVAILABLE', 'The model is overloaded.', 503)]),
}

const dialects: Record<RemoteProvider, Dialect> = {
  openai: openaiDialect,
  'openai-compatible': openaiDialect,
  anthropic: anthropicDialect,
  google: googleDialect,
}

const openaiForm = {
  sent: (schema: object) => ({
    response_format: { type: 'json_schema', json_schema: { name: 'tide', strict: false, schema } },
  }),
  refusal: "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
}

/** How each asks for an answer in a form, and how its service refuses that. */
const forms: Record<RemoteProvider, { sent(schema: object): object; refusal: string }> = {
  openai: openaiForm,
  'openai-compatible': openaiForm,
  anthropic: {
    sent: schema => ({ tools: [{ name: 'json', input_schema: schema }] }),
    refusal: 'output_config.format.schema: For this model, structured outputs are not supported',
  },
  google: {
    sent: schema => ({
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
    }),
    refusal: 'Invalid JSON payload received. Unknown name "responseJsonSchema" at \'generation_config\'',
  },
}

const call: CallOptions = question('How is it calibrated?', {
  tools: [
    {
      type: 'function',
      name: 'search_knowledge',
      description: 'Searches',
      inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    },
  ],
})

async function ask(provider: RemoteProvider, replies: Reply[], options: CallOptions = call) {
  await using server = await startModelServer(
    (_, index) => replies[index] ?? { status: 418, text: 'not expected' },
  )
  const version = provider === 'google' ? 'v1beta' : 'v1'
  const model = await remoteLanguageModel(provider, 'm-1', {
    baseUrl: `${server.url}/${version}`,
    apiKey: secret,
    fetch,
  })
  const answer = await collect(streamWithRetry(model, options, immediately))
  return { ...answer, requests: server.requests, url: server.url }
}

describe.each(Object.entries(dialects) as [RemoteProvider, Dialect][])('%s', (provider, dialect) => {
  test('streams text and sends the key, the model and the tools', async () => {
    const { text, finish, error, requests } = await ask(provider, [{ stream: dialect.text }])
    expect({ text, finish: finish?.unified, error }).toEqual({
      text: 'Hello, world',
      finish: 'stop',
      error: undefined,
    })
    const [request] = requests
    expect(request).toMatchObject({ method: 'POST', path: dialect.path })
    const [name, value] = dialect.keyHeader
    expect(request?.headers[name]).toBe(value)
    expect(JSON.stringify(request?.body)).toContain('search_knowledge')
  })

  test('sends the form of an answer in its own way, and no more where that is refused', async () => {
    const schema = {
      type: 'object',
      properties: { marked: { type: 'number' } },
      required: ['marked'],
      additionalProperties: false,
    } as const
    const refused = { status: 400, json: dialect.error('invalid_request_error', forms[provider].refusal) }
    const { text, requests } = await ask(
      provider,
      [refused, { stream: dialect.text }],
      question('How high?', {
        responseFormat: { type: 'json', name: 'tide', schema },
        providerOptions: { openai: { strictJsonSchema: false } },
      }),
    )
    expect(text).toBe('Hello, world')
    expect(requests[0]?.body).toMatchObject(forms[provider].sent(schema))
    expect(JSON.stringify(requests[1]?.body)).not.toContain('marked')
  })

  test('gathers a tool call from its chunks', async () => {
    const { toolCalls, finish } = await ask(provider, [{ stream: dialect.toolCall }])
    expect(toolCalls).toMatchObject([{ toolName: 'search_knowledge' }])
    expect(JSON.parse(toolCalls[0]?.input ?? '')).toEqual({ query: 'zero "calibration"' })
    expect(finish?.unified).toBe('tool-calls')
  })

  test('shows a refusal as text, and says that it is one', async () => {
    const { text, finish } = await ask(provider, [{ stream: dialect.refusal }])
    expect(text).toBe("I can't help.")
    expect(finish?.unified).toBe('content-filter')
  })

  test('reads chunks that are torn apart anywhere', async () => {
    const bytes = dialect.toolCall.join('').match(/.{1,7}/gs) ?? []
    const { toolCalls } = await ask(provider, [{ stream: bytes }])
    expect(toolCalls.map(({ input }) => JSON.parse(input))).toEqual([{ query: 'zero "calibration"' }])
  })

  test('a model that the provider does not have is MODEL_UNKNOWN, at once', async () => {
    const [status, json] = dialect.noSuchModel
    const { error, requests } = await ask(provider, [{ status, json }])
    expect(error).toMatchObject({
      code: 'MODEL_UNKNOWN',
      status: 400,
      message: expect.stringContaining('"m-1"'),
    })
    expect(requests).toHaveLength(1)
  })

  test('a wrong key is said to be refused and stands nowhere in the error', async () => {
    const [status, json] = dialect.wrongKey
    const { error } = await ask(provider, [{ status, json }])
    expect(error).toMatchObject({
      code: 'MODEL_ERROR',
      message: expect.stringContaining('refused the configured key'),
    })
    expect(everythingIn(error)).not.toContain(secret)
  })

  test('a rate limit is waited out, twice at most', async () => {
    const limited = { status: 429, json: dialect.error('rate_limit_error', `Slow down, ${secret}`) }
    const { text } = await ask(provider, [limited, limited, { stream: dialect.text }])
    expect(text).toBe('Hello, world')
    const { error, requests, url } = await ask(provider, [limited, limited, limited])
    expect(error).toMatchObject({ code: 'MODEL_ERROR', message: expect.stringContaining('rate limiting') })
    expect(requests).toHaveLength(3)
    expect(everythingIn(error)).not.toContain(secret)
    expect(everythingIn(error)).not.toContain(url)
    expect(everythingIn(error)).not.toContain('How is it calibrated?')
  })

  test.each([500, 503, 529])('status %i is a failing provider', async status => {
    const failing = { status, json: dialect.error('api_error', 'Internal details at 10.0.0.7') }
    const { error } = await ask(provider, [failing, failing, failing])
    expect(error).toMatchObject({
      code: 'MODEL_ERROR',
      status: 500,
      message: expect.stringContaining('is failing'),
    })
    expect(error).not.toMatchObject({ message: expect.stringContaining('10.0.0.7') })
  })

  test('an error as the first event is tried again', async () => {
    const { text, requests } = await ask(provider, [
      { stream: dialect.overloadedStream },
      { stream: dialect.text },
    ])
    expect(text).toBe('Hello, world')
    expect(requests).toHaveLength(2)
  })

  test('a stream cut off in the middle is an error after what was streamed, and is not tried again', async () => {
    const begun = dialect.text.slice(0, provider === 'anthropic' ? 4 : 1)
    const { text, error, requests } = await ask(provider, [{ stream: begun, cut: true }])
    expect(text).toMatch(/^Hello/)
    expect(error).toMatchObject({ code: 'MODEL_ERROR', message: expect.stringContaining('broke off') })
    expect(requests).toHaveLength(1)
  })

  test('a stream that ends without its end is an error too', async () => {
    const begun = dialect.text.slice(0, provider === 'anthropic' ? 4 : 1)
    const { error } = await ask(provider, [{ stream: begun }])
    expect(error).toMatchObject({ code: 'MODEL_ERROR' })
  })

  test('a page instead of a stream is an error', async () => {
    const { text, error } = await ask(provider, [
      { text: '<html>Sign in</html>', headers: { 'content-type': 'text/html' } },
    ])
    expect(text).toBe('')
    expect(error).toMatchObject({ code: 'MODEL_ERROR' })
  })

  test('nobody at the address is an error that does not name it', async () => {
    const server = await startModelServer(() => ({ text: '' }))
    await server[Symbol.asyncDispose]()
    const model = await remoteLanguageModel(provider, 'm-1', {
      baseUrl: `${server.url}/v1`,
      apiKey: secret,
      fetch,
    })
    const { error } = await collect(streamWithRetry(model, call, immediately))
    expect(error).toMatchObject({ code: 'MODEL_ERROR', message: expect.stringContaining("can't be reached") })
    expect((error as Error).message).not.toContain('127.0.0.1')
  })

  test('an abort ends the request and is passed on as it is', async () => {
    const leaving = new AbortController()
    async function* endless() {
      yield dialect.text.slice(0, provider === 'anthropic' ? 4 : 1).join('')
      await new Promise(() => {})
    }
    await using server = await startModelServer(() => ({ stream: endless() }))
    const model = await remoteLanguageModel(provider, 'm-1', {
      baseUrl: `${server.url}/v1`,
      apiKey: secret,
      fetch,
    })
    const seen: string[] = []
    const reading = streamWithRetry(
      model,
      { ...call, abortSignal: leaving.signal },
      immediately,
    )(part => {
      if (part.type !== 'text-delta') return
      seen.push(part.delta)
      leaving.abort(new Error('the client went away'))
    })
    await expect(reading).rejects.toThrow('the client went away')
    expect(seen).toEqual(['Hello'])
  })
})

function everythingIn(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? ''
  return `${error.message} ${error.stack} ${JSON.stringify(error)} ${everythingIn(error.cause)}`
}
