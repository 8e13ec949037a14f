import { expect, test } from 'vitest'
import { collect, immediately, question } from '#test/support/collect-answer.ts'
import { startModelServer } from '#test/support/model-server.ts'
import { type ServerTranscript, serverTranscripts } from '#test/support/server-transcripts.ts'
import type { StreamPart, ToolCall } from '../language-model/language-model.ts'
import { remoteLanguageModel } from '../providers/providers.ts'
import { streamWithRetry } from '../transport/call-with-retry.ts'
import { createAnswerReader } from './answer-reader.ts'
import { createEventData } from './event-data.ts'

const tools = ['get_weather', 'get_time']

function read(...pieces: Uint8Array[]) {
  const answer = { text: '', reasoning: '', calls: [] as ToolCall[], tokens: {}, end: '' }
  function take(part: StreamPart): void {
    if (part.type === 'text-delta') answer.text += part.delta
    if (part.type === 'reasoning-delta') answer.reasoning += part.delta
    if (part.type === 'tool-call') answer.calls.push(part)
    if (part.type === 'error') answer.end = String(Reflect.get(Object(part.error), 'name'))
    if (part.type !== 'finish') return
    answer.end = part.finishReason.unified
    const { inputTokens, outputTokens } = part.usage
    answer.tokens = { input: inputTokens.total, output: outputTokens.total }
  }
  const events = createEventData()
  const reader = createAnswerReader(take, { tools })
  for (const piece of pieces) for (const event of events.read(piece)) reader.read(event)
  reader.end(events.end())
  return answer
}

const named = (calls: ToolCall[]) => calls.map(({ toolName, input }) => [toolName, JSON.parse(input)])

function expectWhole(answer: ReturnType<typeof read>, expected: ServerTranscript, place: string): void {
  const { text, reasoning = '', calls = [], tokens = { input: undefined, output: undefined } } = expected
  expect({ ...answer, calls: named(answer.calls) }, place).toEqual({
    text,
    reasoning,
    calls,
    tokens,
    end: calls.length > 0 ? 'tool-calls' : 'stop',
  })
}

test.each(serverTranscripts.map(row => [row.server, row] as const))(
  'a stream of %s is read the same, wherever it is torn, and ended anywhere it is never a wrong answer',
  (_, transcript) => {
    const bytes = Buffer.from(transcript.body)
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expectWhole(read(bytes.subarray(0, cut), bytes.subarray(cut)), transcript, `torn at ${cut}`)
      const { end, text, reasoning, calls } = read(bytes.subarray(0, cut))
      const isEnded = !['interrupted', 'InvalidResponseDataError', 'EmptyAnswer'].includes(end)
      if (isEnded)
        expect([text, named(calls)], `ended at ${cut}`).toEqual([transcript.text, transcript.calls ?? []])
      // The beginning of a tag may be text as well.
      expect(transcript.text.startsWith(text.replace(/<\w*$/, '')), `ended at ${cut}`).toBe(true)
      expect(
        (transcript.reasoning ?? '').startsWith(reasoning.replace(/<\/?\w*$/, '')),
        `ended at ${cut}`,
      ).toBe(true)
    }
    expectWhole(read(...Array.from(bytes, byte => Uint8Array.of(byte))), transcript, 'byte by byte')
  },
)

test.each(serverTranscripts.map(row => [row.server, row] as const))(
  'a stream of %s is read over HTTP',
  async (_, { body, text, reasoning = '', calls = [] }) => {
    await using server = await startModelServer(() => ({ stream: body.match(/[\s\S]{1,40}/gu) ?? [] }))
    const model = await remoteLanguageModel('openai-compatible', 'm', { baseUrl: server.url, fetch })
    const offered = tools.map(name => ({ type: 'function' as const, name, inputSchema: {} }))
    const answer = await collect(streamWithRetry(model, question('Hi', { tools: offered }), immediately))
    expect(answer).toMatchObject({ text, reasoning, error: undefined })
    expect(named(answer.toolCalls)).toEqual(calls)
  },
)
