/**
 * Requests in the form in which chats and editors send them, with the parts that their sources add to the conversation, and
 * what they read in the answers. Written after Open WebUI 0.6 (`routers/openai.py`, `utils/middleware.py`), LibreChat 0.8
 * (`@librechat/agents`, which sends by LangChain), Continue 1.3.40 (`openai-adapters` 1.32.0), Cline 4.1.13 (`llms` 0.0.78, by
 * the AI SDK) and Codex (`codex-api`, `sse/responses.rs`, of 2026).
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { refusal } from '#test/support/chat-model.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { openaiToolCall } from '#test/support/model-server.ts'

let stage: ChatStage

beforeAll(async () => {
  stage = await setChatStage()
})

afterAll(() => stage[Symbol.asyncDispose]())

const parameters = {
  type: 'object',
  properties: { path: { type: 'string' } },
  required: ['path'],
  additionalProperties: false,
}
const readFile = { name: 'read_file', description: 'Reads a file.', parameters }
const tools = [{ type: 'function', function: { ...readFile, strict: false } }]
const system = { role: 'system', content: 'You are an expert.' }
const question = { role: 'user', content: [{ type: 'text', text: 'Read a.txt' }] }
const call = {
  id: 'call_9',
  type: 'function',
  function: { name: 'read_file', arguments: '{"path":"b.txt"}' },
}
const before = [
  system,
  { role: 'user', content: 'Read b.txt' },
  { role: 'assistant', content: '', tool_calls: [call] },
  { role: 'tool', tool_call_id: 'call_9', content: [{ type: 'text', text: 'It is empty.' }] },
  { role: 'assistant', content: null, refusal: null, tool_calls: [{ ...call, id: 'call_10' }] },
  { role: 'tool', tool_call_id: 'call_10', content: '' },
]

interface Chunk {
  choices: {
    delta: {
      content?: string
      tool_calls?: { index: number; id?: string; function: { name?: string; arguments: string } }[]
    }
    finish_reason: string | null
  }[]
  usage?: { prompt_tokens: number }
  error?: unknown
}

async function send(path: string, body: object): Promise<string> {
  stage.model.next({ stream: openaiToolCall('read_file', { path: 'a.txt' }) })
  const {
    status,
    headers,
    body: answer,
  } = await stage.app.call('POST', `/api/openai/v1/${path}`, {
    body: { model: 'default', stream: true, ...body },
    headers: { authorization: 'Bearer none', accept: 'text/event-stream' },
  })
  expect([status, headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8'])
  return String(answer)
}

/** As readers of lines do: other lines than `data: ` are left, and it ends with `[DONE]`. */
function chunksOf(answer: string): Chunk[] {
  const data = answer
    .split('\n')
    .filter(line => line.startsWith('data: '))
    .map(line => line.slice(6).trim())
  expect(data.pop()).toBe('[DONE]')
  return data.map(text => JSON.parse(text) as Chunk)
}

it.each<[client: string, body: object]>([
  [
    'Open WebUI',
    {
      messages: [...before, question],
      tools,
      params: {},
      features: { web_search: false },
      variables: { '{{USER_NAME}}': 'Ada' },
      metadata: { chat_id: 'c', files: null },
      stream_options: { include_usage: true },
    },
  ],
  [
    'LibreChat',
    {
      messages: [...before, { ...question, name: 'Ada' }],
      tools,
      user: '66f',
      temperature: 1,
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      stream_options: { include_usage: true },
      max_tokens: 4096,
    },
  ],
  [
    'Continue',
    {
      messages: [...before, question],
      tools,
      max_tokens: 4096,
      temperature: null,
      stop: ['\n\nUser:'],
      parallel_tool_calls: false,
      stream_options: { include_usage: true },
      prediction: { type: 'content', content: '' },
    },
  ],
  [
    'Cline',
    {
      messages: [...before, question],
      tools,
      tool_choice: 'auto',
      temperature: 0,
      reasoning_effort: 'medium',
      stream_options: { include_usage: true },
    },
  ],
])('%s reads the calls of its tools from the pieces', async (_client, body) => {
  const chunks = chunksOf(await send('chat/completions', body))
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta))
  const pieces = deltas.flatMap(({ tool_calls = [] }) => tool_calls)
  expect(pieces.every(({ index }) => index === 0)).toBe(true)
  expect(pieces[0]).toMatchObject({ id: expect.stringMatching(/^\w{9}$/), function: { name: 'read_file' } })
  expect(JSON.parse(pieces.map(piece => piece.function.arguments).join(''))).toEqual({ path: 'a.txt' })
  expect(chunks.flatMap(({ choices }) => choices).at(-1)?.finish_reason).toBe('tool_calls')
  expect(
    stage.model
      .questions()
      .at(-1)
      ?.messages.filter(({ role }) => role === 'tool'),
  ).toHaveLength(2)
})

it('Codex reads items and the end of its responses', async () => {
  const input = [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: '<permissions>' }] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Read b.txt' }] },
    { type: 'reasoning', summary: [], encrypted_content: null },
    { type: 'function_call', name: 'read_file', arguments: '{"path":"b.txt"}', call_id: 'call_9' },
    { type: 'function_call_output', call_id: 'call_9', output: 'It is empty.' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Empty.' }] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Read a.txt' }] },
  ]
  const body = {
    instructions: 'You are Codex.',
    input,
    tool_choice: 'auto',
    parallel_tool_calls: true,
    store: false,
    tools: [
      { type: 'function', ...readFile, strict: false },
      { type: 'web_search' },
      { type: 'custom', name: 'patch' },
    ],
    reasoning: null,
    include: [],
    prompt_cache_key: 'c',
    text: { verbosity: 'medium' },
  }
  const answer = await send('responses', body)
  const events = answer.split('\n\n').filter(event => event.startsWith('event: '))
  const read = events.map(
    event =>
      JSON.parse(event.split('\ndata: ')[1] ?? '') as { type: string; item?: object; response?: object },
  )
  const done = read.filter(({ type }) => type === 'response.output_item.done')
  expect(done).toMatchObject([
    { item: { type: 'function_call', name: 'read_file', call_id: expect.stringMatching(/^\w{9}$/) } },
  ])
  expect(read.at(-1)).toMatchObject({
    type: 'response.completed',
    response: { id: expect.stringMatching(/^resp_/) },
  })
  expect(
    stage.model
      .questions()
      .at(-1)
      ?.tools?.map(({ function: { name } }) => name),
  ).not.toContain('patch')
})

it('Codex does not repeat what failed after a tool of the agent', async () => {
  const down = () => refusal(500, 'overloaded')
  stage.model.next({ stream: openaiToolCall('execute_sql', { query: 'SELECT 1' }) }, down(), down(), down())
  const { body } = await stage.app.call('POST', '/api/openai/v1/responses', {
    body: { model: 'default', input: 'Count.', stream: true },
  })
  expect(String(body)).toMatch(/event: response\.failed\ndata: .*"error":\{"code":"invalid_prompt"/)
})

it('Open WebUI and LibreChat read the models from the list', async () => {
  const { body } = await stage.app.call<{ data: { id: string }[] }>('GET', '/api/openai/v1/models')
  expect(body.data.map(({ id }) => id)).toEqual(['default'])
})
