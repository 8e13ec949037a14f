import { afterEach, expect, test, vi } from 'vitest'
import { collect, immediately, question } from '#test/support/collect-answer.ts'
import type { Reply } from '#test/support/model-server.ts'
import { openaiText, startModelServer } from '#test/support/model-server.ts'
import type { AnswerPart } from '../language-model/language-model.ts'
import { remoteLanguageModel } from '../providers/providers.ts'
import { streamWithRetry } from '../transport/call-with-retry.ts'
import { habitsOf } from './model-habits.ts'

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
    Array.from({ length: 2 }, () => ({ providerMetadata: { openaiCompatible: { toolsUnsupported: true } } })),
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

test('that a model takes no tools is remembered for ten minutes, by server and name', () => {
  vi.useFakeTimers()
  const habits = (id: string, baseUrl: string) => habitsOf(id, { baseUrl })
  habits('m', 'http://a/v1').refusedTools()
  vi.advanceTimersByTime(10 * 60_000 - 10)
  expect(habits('m', 'http://a/v1').takesNoTools()).toBe(true)
  expect(habits('n', 'http://a/v1').takesNoTools()).toBe(false)
  expect(habits('m', 'http://b/v1').takesNoTools()).toBe(false)
  vi.advanceTimersByTime(20)
  expect(habits('m', 'http://a/v1').takesNoTools()).toBe(false)
})

test.each(['deepseek-r1:8b', 'qwq-32b', 'Qwen3-4B-Thinking-2507', 'magistral-small', 'phi-4-reasoning'])(
  'the text of %s is held back until its thoughts have ended',
  id => expect(habitsOf(id, { baseUrl: 'http://a' }).closesUnopened()).toBe(true),
)
test.each(['gpt-4o', 'llama3.1:8b', 'qwen3:8b', 'gemma-3r1x'])('that of %s is not', id =>
  expect(habitsOf(id, { baseUrl: 'http://a' }).closesUnopened()).toBe(false),
)

test('thoughts without an opening tag are shown once, taken back, and held back from then on', async () => {
  const pieces = ['secret ', 'plan\n</thi', 'nk>\n\nHello']
  await using server = await startModelServer(() => ({ stream: openaiText(...pieces) }))
  async function shown(): Promise<string[]> {
    const model = await remoteLanguageModel('openai-compatible', 'm', { baseUrl: server.url, fetch })
    const kinds: string[] = []
    await streamWithRetry(
      model,
      question('Hello'),
      immediately,
    )(part => {
      if ('delta' in part) kinds.push(`${part.type} ${part.delta}`)
      if (part.type === 'text-retracted') kinds.push(part.type)
    })
    return kinds
  }
  const end = ['reasoning-delta secret plan\n', 'text-delta Hello']
  expect(await shown()).toEqual(['text-delta secret ', 'text-delta plan\n', 'text-retracted', ...end])
  expect(await shown()).toEqual(end)
})
