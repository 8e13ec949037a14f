/** Answers that have to have a form: `response_format`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { refusal } from '#test/support/chat-model.ts'
import { type ChatStage, setChatStage, type TurnBody } from '#test/support/chat-stage.ts'
import { openaiText, openaiToolCall } from '#test/support/model-server.ts'
import { openStream } from '#test/support/open-stream.ts'

let stage: ChatStage
let path: string
let url: string

beforeAll(async () => {
  stage = await setChatStage()
  path = await stage.makeChat()
  url = await stage.app.listen()
})

afterAll(() => stage[Symbol.asyncDispose]())

const format = (schema: object, name = 'tide', strict?: boolean) => ({
  response_format: { type: 'json_schema', json_schema: { name, schema, ...(strict && { strict }) } },
})
const tide = format({
  type: 'object',
  properties: { metres: { type: 'number' }, below: { $ref: '#' } },
  required: ['metres'],
})
const ask = (body: object) =>
  stage.app.call<TurnBody & { code: string; error: string }>('POST', path, {
    body: { content: 'How high?', ...tide, ...body },
  })
const requests = () => stage.model.requests.filter(({ method }) => method === 'POST').map(({ body }) => body)
const lastMessages = () => stage.model.questions().at(-1)?.messages ?? []

describe('an answer in a form', () => {
  it.each([
    ['bare', '{"metres": 3.5, "below": {"metres": 1}}', { metres: 3.5, below: { metres: 1 } }],
    ['in a block of code', '```json\n{"metres": 2}\n```', { metres: 2 }],
    ['with digits that no double holds', '{"metres": 1, "id": 12345678901234567890}', undefined],
  ])('%s is JSON alone, and stands in the metadata', async (_what, said, output) => {
    stage.model.next({ stream: openaiText(said) })
    const { status, body } = await ask({ autoRag: false })
    expect(status).toBe(200)
    const { content, metadata } = body.assistantMessage
    expect(content).toBe(said.replace(/```(json)?/g, '').trim())
    expect(metadata?.output).toEqual(output ?? JSON.parse(said))
    expect(requests().at(-1)).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { name: 'tide', strict: false } },
    })
    expect(JSON.stringify(lastMessages()[0])).toContain('JSON Schema')
    const list = await stage.messages(path, body.userMessage.conversationId)
    expect(list.at(-1)?.content).toBe(content)
  })

  it('is asked for again once where it does not fit, in the same turn', async () => {
    stage.model.next({ stream: openaiText('Three metres.') }, { stream: openaiText('{"metres":3}') })
    const answer = await openStream(`${url}${path}`, {
      content: 'How high?',
      ...tide,
      stream: true,
      autoRag: false,
    })
    const events = await answer.rest()
    expect(events).toMatchObject([
      { type: 'message_start' },
      { type: 'thinking' },
      { type: 'content_delta', delta: 'Three metres.' },
      { type: 'content_delta', delta: '\n\n{"metres":3}' },
      { type: 'content_replaced', content: '{"metres":3}' },
      { type: 'message_complete' },
    ])
    expect(lastMessages().slice(-2)).toEqual([
      { role: 'assistant', content: 'Three metres.' },
      { role: 'user', content: expect.stringContaining('does not fit') },
    ])
    expect(stage.model.questions().at(-1)?.tools).toBeUndefined()
  })

  it('comes after tools, whose turn is repeated whole in the next prompt', async () => {
    const call = openaiToolCall('execute_sql', { query: 'SELECT 1' })
    stage.model.next(
      { stream: [...openaiText('Let me see.').slice(0, 1), ...call] },
      { stream: openaiText('{"metres":4}') },
    )
    const { body } = await ask({ autoRag: false })
    expect(body.assistantMessage).toMatchObject({
      content: '{"metres":4}',
      toolCalls: [{ name: 'execute_sql' }],
      metadata: { output: { metres: 4 } },
    })
    await stage.send(path, { content: 'Sure?', conversationId: body.userMessage.conversationId })
    expect(lastMessages().filter(({ content }) => content === '{"metres":4}')).toHaveLength(1)
  })

  it('that does not come is SCHEMA_MISMATCH, and what was said stays', async () => {
    stage.model.next({ stream: openaiText('No.') }, { stream: openaiText('{"metres":"3"}') })
    const { status, body } = await ask({})
    expect([status, body.code]).toEqual([400, 'SCHEMA_MISMATCH'])
    const last = (await stage.messages(path)).at(-1)
    expect(last?.content).toBe('No.\n\n{"metres":"3"}')
    expect(last?.metadata).toMatchObject({ error: expect.stringContaining('metres must be number') })
    expect(last?.metadata).not.toHaveProperty('output')

    stage.model.next({ stream: openaiText('No.') }, { stream: openaiText('Never.') })
    const again = await openStream(`${url}${path}/messages/${last?.id}/regenerate`, { ...tide, stream: true })
    expect((await again.rest()).at(-1)).toMatchObject({ type: 'error', code: 'SCHEMA_MISMATCH' })
  })

  it.each([65, 50_000])('of %d levels is asked for again', async levels => {
    const deep = `{"metres":1,"more":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
    stage.model.next({ stream: openaiText(deep) }, { stream: openaiText('{"metres":3}') })
    const { body } = await ask({ autoRag: false })
    expect(body.assistantMessage.metadata?.output).toEqual({ metres: 3 })
    expect(JSON.stringify(lastMessages().at(-1))).toContain('nested more than 64 levels deep')
  })

  it.each([
    refusal(400, 'response_format: json_schema is not supported'),
    refusal(422, 'Extra inputs are not permitted: response_format'),
  ])('is asked for in words alone where the server refuses forms: %#', async refused => {
    stage.model.next(refused, { stream: openaiText('{"metres":5}') })
    const { body } = await ask({ ...format({ type: 'object' }, 'x', true), autoRag: false })
    expect(body.assistantMessage.metadata?.output).toEqual({ metres: 5 })
    expect(requests().at(-2)).toMatchObject({ response_format: { json_schema: { strict: true } } })
    expect(requests().at(-1)).not.toHaveProperty('response_format')
  })
})

describe('what is refused before anything is stored', () => {
  let deep: object = {}
  for (let level = 0; level < 250; level += 1) deep = { not: deep }
  const form = (json_schema: object, type = 'json_schema') => ({ response_format: { type, json_schema } })
  it.each<[what: string, body: object, error: RegExp]>([
    ['another type', form({ schema: {} }, 'xml'), /response_format/],
    ['no schema', form({ name: 'x' }), /schema/],
    ['a schema that is none', form({ schema: true }), /schema/],
    ['a bad name', format({}, 'two words'), /name/],
    ['an unknown type', format({ type: 'strange' }), /can’t be used/],
    ['a pattern that is none', format({ pattern: '(' }), /can’t be used/],
    ['a reference to elsewhere', format({ $ref: 'https://example.com/x.json' }), /can’t be used/],
    ['a reference to nothing', format({ $ref: '#/$defs/none' }), /can’t be used/],
    ['a large schema', format({ description: 'x'.repeat(50_000) }), /50000 characters/],
    ['a deep schema', format(deep), /200 levels/],
    ['the model builtin', { ...tide, model: 'builtin' }, /builtin/],
  ])('%s', async (_what, body, error) => {
    const before = await stage.messages(path)
    const answer = await ask(body)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(error)])
    expect(await stage.messages(path)).toEqual(before)
  })

  it('a schema of 10 MB', async () => {
    expect((await ask(format({ description: 'x'.repeat(10_000_000) }))).status).toBe(413)
  })
})

it.each<[what: string, schema: object]>([
  ['a reference to itself alone', { $ref: '#' }],
  [
    'a circle of references',
    { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
  ],
  ['a pattern that takes for ever', { type: 'string', pattern: '^(a+)+$' }],
])('%s ends with an error within seconds', async (_what, schema) => {
  const answer = { stream: openaiText(JSON.stringify(`${'a'.repeat(40)}!`)) }
  stage.model.next(answer, { stream: openaiText(JSON.stringify(`${'a'.repeat(40)}!`)) })
  const { status, body } = await ask(format(schema))
  expect([status, body.code]).toEqual([400, expect.stringMatching('SCHEMA_MISMATCH|VALIDATION_ERROR')])
})
