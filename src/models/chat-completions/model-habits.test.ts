import { expect, test } from 'vitest'
import { immediately, question } from '#test/support/collect-answer.ts'
import { openaiText, startModelServer } from '#test/support/model-server.ts'
import { remoteLanguageModel } from '../providers/providers.ts'
import { streamWithRetry } from '../transport/call-with-retry.ts'
import { habitsOf } from './model-habits.ts'

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
