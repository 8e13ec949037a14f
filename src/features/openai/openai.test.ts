import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { testApp } from '#test/support/build-app.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { heic, jpeg, place, png } from '#test/support/images.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { openaiChunk, openaiText, openaiToolCall, wireForm } from '#test/support/model-server.ts'
import { startSite } from '#test/support/site-server.ts'

const base = '/api/openai/v1'
const clock = manualClock()

let stage: ChatStage

beforeAll(async () => {
  stage = await setChatStage({ clock, environment: { OUTBOUND_ALLOW: '127.0.0.1' } })
})

afterAll(() => stage[Symbol.asyncDispose]())

interface Failed {
  error: { message: string; type: string; param: string | null; code: string }
}
interface Completed {
  choices: { message: { content: string; tool_calls?: { id: string }[] }; finish_reason: string }[]
  usage?: object
}

const user = (content: unknown) => ({ role: 'user', content })
const complete = (body: object, headers = {}) =>
  stage.app.call<Failed & Completed>('POST', `${base}/chat/completions`, {
    body: { model: 'default', messages: [user('Hi')], ...body },
    headers,
  })
const respond = (body: object) =>
  stage.app.call<Failed>('POST', `${base}/responses`, { body: { model: 'default', input: 'Hi', ...body } })
const weather = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }
const dataOf = (bytes: Uint8Array) => `data:;base64,${Buffer.from(bytes).toString('base64')}`
const fileOf = (filename: string, bytes: Uint8Array) => ({
  type: 'file',
  file: { filename, file_data: dataOf(bytes) },
})
const lastQuestion = () => stage.model.questions().at(-1)

describe('what is refused', () => {
  const image = (url: string) => user([{ type: 'image_url', image_url: { url } }])
  const schema = (schema: unknown) => ({ response_format: { type: 'json_schema', json_schema: { schema } } })
  it.each<[what: string, body: object, code: string, param: string | null, message: RegExp]>([
    ['no messages', { messages: [] }, 'validation_error', 'messages', /text or a file of the user/],
    ...(
      [
        ['sound', user([{ type: 'input_audio', input_audio: { data: 'QQ==' } }]), /audio can’t be heard/],
        ['a file without data', user([{ type: 'file', file: { file_id: 'f' } }]), /a file with its data/],
        ['an image of the assistant', { ...image(dataOf(png())), role: 'assistant' }, /must be text/],
        ['an image of another type', image(dataOf(heic())), /can’t be read: .* save it as JPEG/],
        ['no base64', image('data:image/png;base64,%%%'), /must be a data URL/],
        ['an address in a private network', image('http://10.0.0.1/cat.png'), /can’t be fetched: /],
        ['an archive', user([fileOf('a.bin', Buffer.from('PK\x03\x04\0\0\0'))]), /no files of the type/],
      ] as const
    ).map(([what, message, says]): [string, object, string, string, RegExp] => [
      what,
      { messages: [message] },
      'validation_error',
      'messages.0.content.0',
      says,
    ]),
    ['a number', { messages: [user(7)] }, 'validation_error', 'messages.0.content', /a text or a list/],
    ['two answers', { n: 2 }, 'validation_error', 'n', /must be 1/],
    [
      'a stray result',
      { messages: [{ role: 'tool', tool_call_id: 'x', content: '' }] },
      'validation_error',
      'messages.0.tool_call_id',
      /id of a call/,
    ],
    [
      'a bad name',
      { tools: [{ function: { name: 'two words' } }] },
      'validation_error',
      'tools.0.function.name',
      /must be 1 to 64/,
    ],
    [
      'an unknown choice',
      { tools: [weather], tool_choice: { function: { name: 'x' } } },
      'validation_error',
      'tool_choice',
      /names no tool/,
    ],
    ['no schema', schema(null), 'validation_error', 'response_format.json_schema.schema', /JSON Schema/],
    [
      'a bad schema',
      schema({ type: 'strange' }),
      'validation_error',
      'response_format',
      /can’t be used: schema is invalid/,
    ],
    ['a temperature', { temperature: 3 }, 'validation_error', 'temperature', /<= 2|at most 2/],
    [
      'a role',
      { messages: [{ role: 'critic', content: 'x' }] },
      'validation_error',
      'messages.0.role',
      /must be/,
    ],
    ['a model', { model: 'nobody' }, 'model_not_found', 'model', /does not exist/],
  ])('%s', async (_what, body, code, param, message) => {
    const { body: answer, status } = await complete(body)
    expect(answer.error).toEqual({
      type: 'invalid_request_error',
      code,
      param,
      message: expect.stringMatching(message),
    })
    expect(status).toBe(code === 'model_not_found' ? 404 : 400)
  })

  it.each<[body: object, code: string, param: string]>([
    [{ previous_response_id: 'resp_1' }, 'previous_response_not_found', 'previous_response_id'],
    [{ conversation: 'conv_1' }, 'validation_error', 'conversation'],
    [{ background: true }, 'validation_error', 'background'],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'validation_error', 'input.0'],
    [
      { input: [user([{ type: 'input_image', image_url: 'data:,' }])] },
      'validation_error',
      'input.0.content.0',
    ],
  ])('a response that needs what was stored: %j', async (body, code, param) => {
    const { status, body: answer } = await respond(body)
    expect([status, answer.error.code, answer.error.param]).toEqual([400, code, param])
    expect(answer.error.message).toMatch(/whole conversation|must be a data URL/)
  })

  it.each(['GET', 'POST'])('a path that only seems to be one: %s', async method => {
    const path = `${base}/chat/completions/chat/completions`
    const { status, body } = await stage.app.call<Failed>(method, path, {
      headers: { host: 'agents.example' },
    })
    expect([status, body.error.code]).toEqual([404, 'not_found'])
    expect(body.error.message).toContain('http://agents.example/api/openai/v1')
  })

  it('a paused agent', async () => {
    const id = await makeAgent(stage.app, { name: 'sleeper' })
    await stage.app.call('PUT', `/api/agents/${id}`, { body: { status: 'paused' } })
    const { status, body } = await complete({ model: 'sleeper' })
    expect([status, body.error.code]).toEqual([409, 'conflict'])
    const { body: listed } = await stage.app.call('GET', `${base}/models`)
    expect(JSON.stringify(listed)).not.toContain('sleeper')
  })
})

describe('files of the user', () => {
  it('stand as text in their place, and are looked for in nothing', async () => {
    const notes = fileOf('tides.txt', Buffer.from('High tide is at noon.'))
    const broken = { type: 'input_file', filename: 'b.pdf', file_data: dataOf(Buffer.from('%PDF-1.7 no')) }
    await complete({ messages: [user([notes, { type: 'text', text: 'When?' }])] })
    const shown = '{"source":"tides.txt","text":"High tide is at noon."}'
    const said = [`The file “tides.txt”:\n<passages>\n${shown}\n</passages>`, 'When?']
    expect(lastQuestion()?.messages.at(-1)?.content).toBe(said.join('\n\n'))
    await respond({ input: [user([{ type: 'input_text', text: 'Read' }, broken])] })
    expect(lastQuestion()?.messages.at(-1)?.content).toMatch(
      /^Read\n\nThe file “b.pdf”:\n\(It can’t be read: /,
    )
  })

  it('are fetched by this service, within the size of an upload', async () => {
    await using site = await startSite(({ path }) => ({
      body: path === '/tides' ? 'High tide is at noon.' : 'x'.repeat(9),
    }))
    const at = (path: string) => ({
      type: 'input_file',
      filename: 'tides.txt',
      file_url: `${site.url}${path}`,
    })
    expect(await respond({ input: [user([at('/tides')])] })).toMatchObject({ status: 200 })
    expect(JSON.stringify(lastQuestion())).toContain('High tide is at noon.')
  })
})

it('images of the user go to the model in their place, also from an address, without where they were taken', async () => {
  const photo = jpeg({ orientation: 6 })
  await using site = await startSite(() => ({ body: photo }))
  const image = { type: 'image_url', image_url: { url: `${site.url}/photo`, detail: 'low' } }
  await complete({
    messages: [user([{ type: 'text', text: 'This' }, image, { type: 'text', text: 'or that?' }])],
  })
  const [first, shown, last] = Object(lastQuestion()?.messages.at(-1)?.content)
  expect([first, last]).toMatchObject([{ text: 'This' }, { text: expect.stringContaining('or that?') }])
  expect(shown.image_url.url).toMatch(/^data:image\/jpeg;base64,/)
  expect(Buffer.from(shown.image_url.url.split(',')[1], 'base64').toString('latin1')).not.toContain(place)
  await respond({ input: [user([{ type: 'input_image', image_url: dataOf(png()) }])] })
  expect(JSON.stringify(lastQuestion())).toContain(png().toString('base64').slice(0, 30))
})

describe('the conversation', () => {
  it('reaches the model whole, with the wishes of its caller behind the prompt of the agent', async () => {
    const id = await makeAgent(stage.app, { name: 'painter' })
    await stage.app.call('PUT', `/api/agents/${id}/settings`, { body: { system_prompt: 'You paint.' } })
    const messages = [
      { role: 'system', content: 'Be brief.' },
      user([
        { type: 'text', text: 'One' },
        { type: 'text', text: 'two' },
      ]),
      {
        role: 'assistant',
        content: 'Three.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Delft"}' } },
        ],
      },
      { role: 'developer', content: 'Rhyme.' },
      user('Four'),
    ]
    await complete({
      model: 'PAINTER',
      messages,
      temperature: 0,
      max_completion_tokens: 9,
      stop: 'End',
      user: 'u',
      top_k: 1,
    })
    const asked = lastQuestion()
    expect(asked).toMatchObject({ temperature: 0, max_tokens: 9, stop: ['End'] })
    expect(asked?.messages.slice(1)).toEqual([
      { role: 'user', content: 'One\n\ntwo' },
      {
        role: 'assistant',
        content: 'Three.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Delft"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'No result of this call was sent.' },
      { role: 'assistant', content: '(There was no answer.)' },
      { role: 'user', content: 'Four' },
    ])
    expect(asked?.messages[0]?.content).toMatch(
      /"painter"[\s\S]*You paint\.[\s\S]*wishes[\s\S]*\nBe brief\.\n\nRhyme\.$/,
    )
    const { body } = await stage.app.call<{ conversations: [] }>(
      'GET',
      `/api/agents/${id}/chat/conversations`,
    )
    expect(body.conversations).toEqual([])
  })

  it('makes the request’s tools the only ones where one of them is required', async () => {
    const namesOf = async (body: object) => {
      await complete({ tools: [weather], ...body })
      return lastQuestion()?.tools?.map(tool => tool.function.name)
    }
    expect(await namesOf({})).toEqual(['weather', 'search_knowledge', 'browse_url', 'execute_sql'])
    expect(await namesOf({ tool_choice: 'none' })).toEqual(['search_knowledge', 'browse_url', 'execute_sql'])
    expect(await namesOf({ tool_choice: 'required' })).toEqual(['weather'])
    expect(await namesOf({ tool_choice: { type: 'function', function: { name: 'weather' } } })).toEqual([
      'weather',
    ])
    expect(await namesOf({ agentstead: { enableTools: false } })).toEqual(['weather'])
    const sql = { type: 'function', function: { name: 'execute_sql' } }
    expect(await namesOf({ tools: [sql] })).toEqual([
      'execute_sql',
      'search_knowledge',
      'browse_url',
      'execute_sql_2',
    ])
  })

  it('counts tokens, those from a cache as well', async () => {
    const usage = { prompt_tokens: 20, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 16 } }
    const counted = { ...openaiChunk({}, 'length'), usage }
    const reply = { stream: wireForm('openai', [openaiChunk({ content: 'Yes' }), counted]) }
    stage.model.next(reply, reply, reply)
    const whole = await complete({})
    const expected = { ...usage, total_tokens: 24 }
    expect(whole.body).toMatchObject({ usage: expected, choices: [{ finish_reason: 'length' }] })
    const streamed = await complete({ stream: true, stream_options: { include_usage: true } })
    expect(String(streamed.body)).toMatch(/"choices":\[\],"usage":.*"cached_tokens":16/)
    expect((await respond({})).body).toMatchObject({
      usage: { input_tokens: 20, output_tokens: 4, input_tokens_details: { cached_tokens: 16 } },
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
  })
})

describe('what is done unseen', () => {
  /** The messages that go on from a call of `weather` behind one of `execute_sql`. */
  async function handedOut() {
    stage.model.next({ stream: openaiToolCall('execute_sql', { query: 'SELECT 41 + 1 AS n' }) })
    stage.model.next({ stream: openaiToolCall('weather', {}) })
    const { body } = await complete({ tools: [weather] })
    const [choice] = body.choices
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null, reasoning_content: 'Calling execute_sql.\n' },
    })
    const result = { role: 'tool', tool_call_id: choice?.message.tool_calls?.[0]?.id, content: 'Rain.' }
    return [user('Hi'), choice?.message, result]
  }
  const seen = () => JSON.stringify(lastQuestion()?.messages)

  it('comes back for its caller, for an hour', async () => {
    const messages = await handedOut()
    await complete({ messages, tools: [weather] })
    expect(seen()).toMatch(/execute_sql.*42.*weather.*Rain/)
    await complete({ messages }, { host: 'elsewhere.example' })
    expect(seen()).not.toContain('42')
    clock.advance(60 * 60_000 - 1)
    await complete({ messages })
    expect(seen()).toContain('42')
    clock.advance(1)
    await complete({ messages })
    expect(seen()).not.toContain('42')
    expect(seen()).toContain('Rain')
  })

  it('has calls beside those of the caller made first', async () => {
    const both = wireForm('openai', [
      openaiChunk({
        tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } }],
      }),
      openaiChunk({
        tool_calls: [
          {
            index: 1,
            id: 'b',
            type: 'function',
            function: { name: 'execute_sql', arguments: '{"query":"SELECT 5"}' },
          },
        ],
      }),
      openaiChunk({}, 'tool_calls'),
    ])
    stage.model.next({ stream: both }, { stream: openaiToolCall('weather', {}) })
    const { body } = await complete({ tools: [weather] })
    expect(body.choices[0]?.message.tool_calls).toHaveLength(1)
    expect(seen()).toMatch(/it stood beside others.*5/)
  })

  it('needs no person, who could not approve it here', async () => {
    const id = await makeAgent(stage.app, { name: 'careful' })
    const configuration = { code: 'return 1' }
    const tool = {
      name: 'erase',
      description: 'Erases.',
      type: 'javascript',
      configuration,
      requiresApproval: 'always',
    }
    expect(await stage.app.call('POST', `/api/agents/${id}/tools`, { body: tool })).toMatchObject({
      status: 201,
    })
    stage.model.next({ stream: openaiToolCall('erase', {}) }, { stream: openaiText('Ask elsewhere.') })
    await complete({ model: 'careful' })
    expect(seen()).toContain('only be given in a conversation that is kept')
    const { body } = await stage.app.call<{ meta: { total: number } }>(
      'GET',
      `/api/agents/${id}/chat/approvals`,
    )
    expect(body.meta.total).toBe(0)
  })
})

it('a form that the model does not keep is an error after one repair', async () => {
  const before = stage.model.questions().length
  stage.model.next({ stream: openaiText('No.') }, { stream: openaiText('Never.') })
  const format = { type: 'json_schema', json_schema: { schema: { type: 'object' } } }
  const { status, body } = await complete({ response_format: format })
  expect([status, body.error.code]).toEqual([400, 'schema_mismatch'])
  expect(stage.model.questions().length - before).toBe(2)
})

it('a repair is made without the tools, which would do the same again', async () => {
  stage.model.next(
    { stream: openaiToolCall('execute_sql', { query: 'SELECT 1' }) },
    ...[{ stream: openaiText('No.') }, { stream: openaiText('{}') }],
  )
  const { body } = await complete({ response_format: { type: 'json_object' } })
  expect(body.choices[0]?.message.content).toBe('{}')
  expect(lastQuestion()?.tools ?? []).toEqual([])
})

it.each<[answer: string, json: string]>([
  ['```json\n{"a": 1}\n```', '{"a": 1}'],
  ['```\r\n{"a": "```"}\r\n  ```\n', '{"a": "```"}'],
  ['```{"a": 1}```', '{"b": 2}'],
  // A model may be made to write it; expressions that go back would take minutes.
  [`\`\`\`\n${'\n'.repeat(20_000)}x`, '{"b": 2}'],
])('JSON in a block of code counts, and a broken block is repaired: %j', async (answer, json) => {
  stage.model.next({ stream: openaiText(answer) })
  if (json.includes('b')) stage.model.next({ stream: openaiText(json) })
  const { body } = await complete({ response_format: { type: 'json_object' } })
  expect(body.choices[0]?.message.content).toBe(json)
})

it('a limit of tokens counts in each of its names, beside the other as null', async () => {
  await complete({ max_tokens: null, max_completion_tokens: 7 })
  expect(lastQuestion()).toMatchObject({ max_tokens: 7 })
})

it('a schema that takes for ever is given up', async () => {
  const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } }
  stage.model.next(
    { stream: openaiText(JSON.stringify({ a: `${'a'.repeat(40)}!` })) },
    { stream: openaiText('{}') },
  )
  const { body } = await complete({ response_format: { type: 'json_schema', json_schema: { schema } } })
  expect(body.choices?.[0]?.message.content).toBe('{}')
})

it('a server that knows no forms is asked without', async () => {
  const refused = {
    status: 400,
    json: { error: { message: 'This response_format type is unavailable now' } },
  }
  stage.model.next(refused, { stream: openaiText('{"a": 1}') })
  const { body } = await complete({ response_format: { type: 'json_object' } })
  expect(body.choices?.[0]?.message.content).toBe('{"a": 1}')
})

it('pages of other origins may send what clients of OpenAI send', async () => {
  const headers = {
    origin: 'https://page.example',
    'access-control-request-headers': 'x-stainless-os, authorization',
  }
  const allowed = async (path: string) =>
    (await stage.app.call('OPTIONS', path, { headers })).headers['access-control-allow-headers']
  expect(await allowed(`${base}/chat/completions`)).toBe('x-stainless-os, authorization')
  expect(await allowed('/api/agents/default/chat')).toBe('Content-Type, Authorization')
})

it.each<[publicAccess: string, listed: string[], status: number]>([
  ['full', ['default'], 200],
  ['chat', ['default'], 200],
  ['read', [], 404],
])('callers without a user reach what PUBLIC_ACCESS=%s opens', async (PublicAccess, listed, status) => {
  const app = await testApp({ environment: { PUBLIC_ACCESS: PublicAccess } })
  const { body } = await app.call<{ data: { id: string }[] }>('GET', `${base}/models`)
  expect(body.data.map(({ id }) => id)).toEqual(listed)
  const asked = { model: 'default', messages: [user('Hi')], tools: [] }
  const answer = await app.call('POST', `${base}/chat/completions`, { body: asked })
  expect(answer.status).toBe(status)
})

it('answers that are sold are not given away', async () => {
  const app = await testApp({ environment: { PUBLIC_ACCESS: 'full' } })
  const sale = { price: '0.10', currency: 'USDC', network: 'base', description: 'An answer', path: '/chat' }
  expect(await app.call('POST', '/api/agents/default/x402-resources', { body: sale })).toMatchObject({
    status: 201,
  })
  const answer = await app.call<Failed>('POST', `${base}/responses`, {
    body: { model: 'default', input: 'Hi' },
  })
  expect([answer.status, answer.body.error.code]).toEqual([403, 'forbidden'])
})

it('keys reach what they are for, and a wrong one nothing', async () => {
  const id = await makeAgent(stage.app, { name: 'locked' })
  const made = await stage.app.call<{ key: string }>('POST', `/api/agents/${id}/keys`, {
    body: { name: 'Widget', role: 'chat' },
  })
  const ask = (key: string, model: string) =>
    stage.app.call<Failed>('POST', `${base}/responses`, {
      body: { model, input: 'Hi' },
      headers: { authorization: `Bearer ${key}` },
    })
  expect(await ask(made.body.key, 'locked')).toMatchObject({ status: 200 })
  expect(await ask(made.body.key, 'default')).toMatchObject({ status: 404 })
  const headers = { authorization: `Bearer ${made.body.key}` }
  const { body } = await stage.app.call('GET', `${base}/models`, { headers })
  expect(body).toMatchObject({ data: [{ id: 'locked' }] })
  const wrong = await ask(
    `${made.body.key.slice(0, -1)}!`.replace('!', made.body.key.endsWith('a') ? 'b' : 'a'),
    'locked',
  )
  expect([wrong.status, wrong.body.error.code]).toEqual([401, 'invalid_api_key'])
  const elsewhere = await stage.app.call<Failed>('GET', `${base}/nothing`, {
    headers: { authorization: 'Bearer asa_wrong' },
  })
  expect(elsewhere.body.error).toMatchObject({ type: 'invalid_request_error' })
})
