import { describe, expect, test } from 'vitest'
import { question } from '#test/support/collect-answer.ts'
import { startModelServer, wireForm } from '#test/support/model-server.ts'
import { remoteLanguageModel } from '../providers/providers.ts'
import { streamWithRetry } from '../transport/call-with-retry.ts'
import { createAnswerMessage, parseToolInput } from './answer-message.ts'
import type { AnswerPart, PromptMessage } from './language-model.ts'

function messageOf(parts: AnswerPart[]) {
  const answer = createAnswerMessage()
  for (const part of parts) answer.add(part)
  return answer.message()
}

const call = { type: 'tool-call' as const, toolCallId: 'c1', toolName: 'search' }

describe('the message of an answer', () => {
  test('holds texts in order, then the calls', () => {
    expect(
      messageOf([
        { type: 'reasoning-delta', id: '0', delta: 'Hm' },
        { ...call, input: '{"a":1}' },
        { type: 'text-start', id: '0' },
        { type: 'text-delta', id: '0', delta: 'One' },
        { type: 'reasoning-delta', id: '0', delta: '.' },
        { type: 'text-delta', id: '0', delta: ' two' },
        { type: 'text-end', id: '0' },
        { type: 'text-delta', id: '0', delta: 'Three' },
      ]).content,
    ).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'One two' },
      { type: 'text', text: 'Three' },
      { ...call, input: { a: 1 } },
    ])
  })

  test('holds no text that says nothing', () => {
    expect(
      messageOf([
        { type: 'text-delta', id: '0', delta: '\n' },
        { type: 'text-delta', id: '0', delta: '\n' },
        { ...call, input: '{}' },
      ]).content,
    ).toEqual([{ ...call, input: {} }])
  })

  test('holds what the provider wants back, even on an empty text', () => {
    const providerMetadata = { google: { thoughtSignature: 's' } }
    expect(
      messageOf([
        { type: 'text-start', id: '0', providerMetadata },
        { type: 'text-end', id: '0' },
        { type: 'text-start', id: '1' },
        { type: 'text-end', id: '1' },
        { ...call, input: '', providerMetadata },
      ]).content,
    ).toEqual([
      { type: 'text', text: '', providerOptions: providerMetadata },
      { ...call, input: {}, providerOptions: providerMetadata },
    ])
  })
})

test.each([
  ['', {}],
  [' ', {}],
  ['{"a":[1]}', { a: [1] }],
  ['[1]', undefined],
  ['null', undefined],
  ['"text"', undefined],
  ['{"query": "test"}, "limit": 10}', undefined],
  [`{"query":${'['.repeat(200)}${']'.repeat(200)}}`, undefined],
])('arguments %j', (input, value) => expect(parseToolInput(input)).toEqual(value))

test('Gemini gets its signature back with the call', async () => {
  const functionCall = { name: 'search', args: { query: 'x' } }
  const parts = [{ functionCall, thoughtSignature: 'c2lnbmVk' }]
  const stream = wireForm('gemini', [
    { candidates: [{ content: { parts, role: 'model' }, finishReason: 'STOP' }] },
  ])
  await using server = await startModelServer(() => ({ stream }))
  const model = await remoteLanguageModel('google', 'gemini-3.8-flash', {
    baseUrl: server.url,
    apiKey: 'k',
    fetch,
  })
  const answer = createAnswerMessage()
  const { prompt } = question('Hello')
  await streamWithRetry(model, { prompt })(answer.add)
  const [toolCall] = answer.message().content.filter(part => part.type === 'tool-call')
  const { toolCallId = '', toolName = '' } = toolCall ?? {}
  const output = { type: 'text' as const, value: 'found' }
  const result: PromptMessage = {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId, toolName, output }],
  }
  await streamWithRetry(model, { prompt: [...prompt, answer.message(), result] })(() => {})
  expect(server.requests[1]?.body).toMatchObject({
    contents: [
      { role: 'user' },
      { role: 'model', parts: [{ functionCall, thoughtSignature: 'c2lnbmVk' }] },
      {},
    ],
  })
})

test('a name that no tool can have does not go back to the service that would refuse it', () => {
  const answer = createAnswerMessage()
  answer.add({ type: 'tool-call', toolCallId: '1', toolName: 'functions.search', input: '{}' })
  expect(answer.message().content).toMatchObject([{ toolName: 'functions_search' }])
})
