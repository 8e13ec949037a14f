/** Prompts of a conversation begin as the ones before them, so that model services find them in their caches. */
import { expect, it } from 'vitest'
import { setChatStage } from '#test/support/chat-stage.ts'
import {
  openaiChunk,
  openaiText,
  openaiToolCall,
  startModelServer,
  wireForm,
} from '#test/support/model-server.ts'
import { uploadAndProcess } from '#test/support/upload.ts'

const topics = [
  'tide gauge',
  'lighthouse',
  'ferry',
  'dredger',
  'pilot boat',
  'crane',
  'beacon',
  'lock',
  'quay',
  'buoy',
]
const fact = (topic: string) =>
  `The ${topic} of the harbour is inspected by the harbour master. ${`Its ${topic} log is kept in the ${topic} office. `.repeat(9)}`

/** Says something, then calls two tools at once. */
const twoCalls = wireForm('openai', [
  openaiChunk({ content: 'Let me look.' }),
  openaiChunk({
    tool_calls: ['lighthouse', 'ferry'].map((query, index) => ({
      index,
      id: `call_${query}`,
      type: 'function',
      function: { name: 'search_knowledge', arguments: JSON.stringify({ query }) },
    })),
  }),
  openaiChunk({}, 'tool_calls'),
])

function commonShare(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length)
  let at = 0
  while (at < shorter && one[at] === other[at]) at += 1
  return at / shorter
}

it('ten turns with tools and passages share nine tenths of their beginnings', async () => {
  await using stage = await setChatStage()
  const path = await stage.makeChat({ llm_context_window: 200_000 })
  const agentId = path.split('/')[3] ?? ''
  for (const topic of topics)
    await uploadAndProcess(stage.app, { name: `${topic}.txt`, content: fact(topic), agentId })
  let conversationId: string | undefined
  for (const [turn, topic] of topics.entries()) {
    const search = { stream: openaiToolCall('search_knowledge', { query: topic }, 'call_1') }
    const steps = [[], [search], [{ stream: twoCalls }, search]][turn % 3] ?? []
    stage.model.next(...steps, { stream: openaiText(`The ${topic} `, 'is inspected.') })
    const { body } = await stage.send(path, {
      content: `Who inspects the ${topic}?`,
      ...(conversationId !== undefined && { conversationId }),
    })
    conversationId = body.userMessage.conversationId
    expect(body.assistantMessage.content).toMatch(/is inspected\.$/)
    expect(body.assistantMessage).not.toHaveProperty('sent')
  }
  const asked = stage.model.questions().map(question => JSON.stringify(question))
  expect(asked.length).toBeGreaterThan(15)
  expect(asked.at(-1)?.match(/<passages>/g)).toHaveLength(topics.length)
  const shares = asked.slice(1).map((body, at) => commonShare(body, asked[at] ?? ''))
  expect(Math.min(...shares)).toBeGreaterThanOrEqual(0.9)
})

it('passages of former questions go all at once when a window has no room for them', async () => {
  await using stage = await setChatStage()
  const path = await stage.makeChat({ llm_context_window: 6000 })
  const agentId = path.split('/')[3] ?? ''
  await uploadAndProcess(stage.app, { name: 'crane.txt', content: fact('crane').repeat(3), agentId })
  const ask = async (more: object) =>
    (await stage.send(path, { content: 'Who inspects the crane?', ...more })).body
  const { conversationId } = (await ask({})).userMessage
  for (let turn = 0; turn < 6; turn += 1) await ask({ conversationId })
  const last = JSON.stringify(stage.model.questions().at(-1))
  expect(last.match(/Who inspects/g)?.length).toBeGreaterThan(2)
  expect(last.match(/<passages>/g)).toHaveLength(1)
})

it('Anthropic gets its marks: after the tools, the system message and the last message but one', async () => {
  const events = [
    {
      type: 'message_start',
      message: {
        id: 'm',
        role: 'assistant',
        content: [],
        model: 'claude',
        usage: {
          input_tokens: 9,
          output_tokens: 1,
          cache_read_input_tokens: 40,
          cache_creation_input_tokens: 1,
        },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Yes.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]
  await using server = await startModelServer(() => ({ stream: wireForm('anthropic', events) }))
  await using stage = await setChatStage({
    environment: { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: server.url },
  })
  const path = await stage.makeChat({ llm_provider: 'anthropic', llm_model: 'claude-haiku-4-5' })
  const { body } = await stage.send(path, { content: 'Hello' })
  expect(body.assistantMessage.metadata?.usage).toMatchObject({
    inputTokens: 50,
    outputTokens: 2,
    cachedInputTokens: 40,
  })
  await stage.send(path, { content: 'More', conversationId: body.userMessage.conversationId })
  const sent = server.requests.at(-1)?.body as {
    system: object[]
    tools: object[]
    messages: { content: object[] }[]
  }
  const mark = { cache_control: { type: 'ephemeral' } }
  expect(sent.system.at(-1)).toMatchObject(mark)
  expect(sent.tools.at(-1)).toMatchObject(mark)
  expect(sent.messages.at(-2)?.content.at(-1)).toMatchObject(mark)
  expect(JSON.stringify(sent).match(/cache_control/g)).toHaveLength(3)
})
