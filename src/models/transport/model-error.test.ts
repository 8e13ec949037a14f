import { APICallError, JSONParseError } from '@ai-sdk/provider'
import { describe, expect, test } from 'vitest'
import { AppError } from '#platform/errors.ts'
import { modelError } from './model-error.ts'

const key = 'sk-live-abcdef'
const model = {
  provider: 'openai',
  modelId: 'gpt-x',
  withoutSecrets: (text: string) => text.replaceAll(key, '[redacted]'),
}

interface Sent {
  message?: string
  body?: unknown
  text?: string
}

function answered(statusCode: number, { message = 'upstream', body, text }: Sent = {}) {
  return new APICallError({
    message,
    url: `https://internal.example/v1?key=${key}`,
    requestBodyValues: { messages: ['private words'], apiKey: key },
    statusCode,
    responseBody: text ?? JSON.stringify(body ?? {}),
    ...(body === undefined ? {} : { data: body }),
  })
}

const openaiBody = (code: string | null, message: string, type = 'invalid_request_error') => ({
  error: { code, message, type },
})

describe('what a failure is called', () => {
  test.each<[string, unknown, string, RegExp]>([
    [
      'OpenAI, no such model',
      answered(404, { body: openaiBody('model_not_found', 'The model does not exist') }),
      'MODEL_UNKNOWN',
      /has no model "gpt-x"/,
    ],
    [
      'OpenAI, no access to the model',
      answered(403, { body: openaiBody('model_not_found', 'Project has no access') }),
      'MODEL_UNKNOWN',
      /has no model/,
    ],
    [
      'Anthropic, no such model',
      answered(404, { body: { type: 'error', error: { type: 'not_found_error', message: 'model: x' } } }),
      'MODEL_UNKNOWN',
      /has no model/,
    ],
    [
      'Gemini, no such model',
      answered(404, {
        body: { error: { code: 404, status: 'NOT_FOUND', message: 'models/x is not found' } },
      }),
      'MODEL_UNKNOWN',
      /has no model/,
    ],
    [
      'Ollama, no such model',
      answered(404, { message: "model 'x' not found", body: openaiBody(null, "model 'x' not found") }),
      'MODEL_UNKNOWN',
      /has no model/,
    ],
    [
      'vLLM, no such model',
      answered(404, {
        text: '{"object":"error","message":"The model `x` does not exist.","type":"NotFoundError"}',
      }),
      'MODEL_UNKNOWN',
      /has no model/,
    ],
    [
      'OpenRouter, no such model',
      answered(400, {
        message: 'x/y is not a valid model ID',
        body: { error: { code: 400, message: 'x/y is not a valid model ID' } },
      }),
      'MODEL_UNKNOWN',
      /has no model/,
    ],
    [
      'an address that is none',
      answered(404, { message: 'Not Found', text: '404 page not found' }),
      'MODEL_ERROR',
      /check its base URL/,
    ],
    [
      'an address with nothing below it',
      answered(404, { message: 'Not Found', text: '' }),
      'MODEL_ERROR',
      /no OpenAI-compatible API \(did you leave out \/v1\?\)/,
    ],
    [
      'a server that knows other paths',
      answered(404, { body: { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } } }),
      'MODEL_ERROR',
      /no OpenAI-compatible API/,
    ],
    [
      'OpenRouter, nobody who serves the model',
      answered(404, { message: 'No endpoints found for gpt-x.' }),
      'MODEL_UNKNOWN',
      /has no model/,
    ],
    [
      'a web page',
      answered(404, { message: 'Not Found', text: '<!DOCTYPE html><html></html>' }),
      'MODEL_ERROR',
      /check its base URL/,
    ],
    [
      'a proxy that lets nobody through',
      answered(403, { message: 'Forbidden', text: '<html><title>403 Forbidden</title></html>' }),
      'MODEL_ERROR',
      /check its base URL/,
    ],
    ['a wrong key', answered(401), 'MODEL_ERROR', /refused the configured key/],
    ['a key without rights', answered(403), 'MODEL_ERROR', /refused the configured key/],
    [
      'Gemini, a wrong key',
      answered(400, { message: 'API key not valid. Please pass a valid API key.' }),
      'MODEL_ERROR',
      /refused the configured key/,
    ],
    ['a rate limit', answered(429), 'MODEL_ERROR', /is rate limiting/],
    [
      'no quota',
      answered(429, { body: openaiBody('insufficient_quota', 'You exceeded your quota') }),
      'MODEL_ERROR',
      /used up/,
    ],
    ['no credit', answered(402), 'MODEL_ERROR', /used up/],
    [
      'too long',
      answered(400, {
        body: openaiBody('context_length_exceeded', "This model's maximum context length is 8192 tokens"),
      }),
      'MODEL_ERROR',
      /too long for the model "gpt-x"/,
    ],
    [
      'too long, Anthropic',
      answered(400, { message: 'prompt is too long: 210000 tokens > 200000 maximum' }),
      'MODEL_ERROR',
      /too long/,
    ],
    [
      'a parameter it does not take',
      answered(400, {
        body: openaiBody(
          'unsupported_parameter',
          "Unsupported parameter: 'max_tokens' is not supported with this model.",
        ),
      }),
      'MODEL_ERROR',
      /refused the request/,
    ],
    ['an inner error', answered(500), 'MODEL_ERROR', /is failing/],
    ['overload', answered(529), 'MODEL_ERROR', /is failing/],
    [
      'overload in a stream',
      { message: 'Overloaded', type: 'overloaded_error', statusCode: 529 },
      'MODEL_ERROR',
      /is failing/,
    ],
    [
      'a rate limit in a stream',
      { message: 'slow', type: 'rate_limit_error', code: null },
      'MODEL_ERROR',
      /is rate limiting/,
    ],
    ['a status in a stream', { message: 'no', code: 429 }, 'MODEL_ERROR', /is rate limiting/],
    ['no JSON', new JSONParseError({ text: '{x', cause: new Error('bad') }), 'MODEL_ERROR', /can't be read/],
    [
      'no connection',
      new APICallError({
        message: 'Cannot connect to API',
        url: 'https://x',
        requestBodyValues: {},
        isRetryable: true,
      }),
      'MODEL_ERROR',
      /can't be reached/,
    ],
    [
      'a broken connection',
      answered(200, { message: 'Failed to process successful response' }),
      'MODEL_ERROR',
      /broke off/,
    ],
    ['a text', 'boom', 'MODEL_ERROR', /is failing/],
    ['nothing', undefined, 'MODEL_ERROR', /is failing/],
  ])('%s', (_, error, code, message) => {
    expect(modelError(error, model)).toMatchObject({ code, message: expect.stringMatching(message) })
  })

  test('an error of ours is passed on, however deep it is wrapped', () => {
    const refusal = new AppError('OUTBOUND_REFUSED', 'The address is private.')
    const wrapped = new APICallError({
      message: 'Cannot connect to API',
      url: 'http://10.0.0.1',
      requestBodyValues: {},
      isRetryable: true,
      cause: new TypeError('fetch failed', { cause: refusal }),
    })
    expect(modelError(refusal, model)).toBe(refusal)
    expect(modelError(wrapped, model)).toBe(refusal)
  })
})

describe('what stays behind', () => {
  test('neither message nor cause holds the key, the address or what was asked', () => {
    for (const status of [400, 401, 403, 404, 429, 500]) {
      const error = modelError(
        answered(status, { message: `Bad key ${key}`, text: `{"key":"${key}"}` }),
        model,
      )
      const everything = `${error.message} ${JSON.stringify(error.cause)}`
      for (const secret of [key, 'internal.example', 'private words'])
        expect(everything).not.toContain(secret)
    }
  })

  test('of a refused key not even a part is quoted', () => {
    const { cause } = modelError(
      answered(401, { message: 'Incorrect API key provided: sk-live-***def.' }),
      model,
    )
    expect(cause).toEqual({ name: 'AI_APICallError', statusCode: 401, message: '' })
  })

  test('the cause names the error, its status and the beginning of its message', () => {
    const { cause } = modelError(answered(500, { message: `key ${key} ${'x'.repeat(1000)}` }), model)
    expect(cause).toEqual({
      name: 'AI_APICallError',
      statusCode: 500,
      message: expect.stringMatching(/^key \[redacted\] x+…$/),
    })
    expect(JSON.stringify(cause).length).toBeLessThan(400)
  })

  test('a long model id is shortened', () => {
    const error = modelError(answered(404, { body: {} }), { ...model, modelId: 'x'.repeat(5000) })
    expect(error.message.length).toBeLessThan(300)
  })
})
