import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { buildApp } from '#test/support/build-app.ts'
import { startGateway } from '#test/support/gateway.ts'
import { type NodeAgent, type NodeStage, setNodeStage } from '#test/support/node-stage.ts'
import type { Execution } from './workflows.schema.ts'

let stage: NodeStage
let agent: NodeAgent

beforeAll(async () => {
  stage = await setNodeStage()
  agent = await stage.newAgent()
})
afterAll(() => stage[Symbol.asyncDispose]())

type Nodes = Parameters<NodeAgent['create']>[0]

/** The secret address of a new workflow. */
async function hookOf(nodes: Nodes = {}, edges: string[] = [], trigger: object = {}, others: object = {}) {
  const start = { type: 'trigger', event: 'webhook', ...trigger }
  const id = await agent.create({ start, ...nodes }, edges, { concurrency: 100, ...others })
  const hook = await stage.app.call<{ url: string }>('POST', `${agent.path}/workflows/${id}/hook`)
  return { id, path: new URL(hook.body.url).pathname }
}

function send(path: string, payload: string | Buffer, headers: Record<string, string> = {}) {
  return stage.app.call<{ execution_id: string; error: { message: string } }>('POST', path, {
    payload,
    headers,
  })
}

describe('a body', () => {
  const boundary = 'XyZ'
  const part = (name: string, value: string, file = '') =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`
  const multipart = (...parts: string[]) => `${parts.join('')}--${boundary}--\r\n`
  const form = 'application/x-www-form-urlencoded'
  const formData = `multipart/form-data; boundary=${boundary}`
  const json = '{"a":{"b":[1,null,"é"]}}'
  const value = { a: { b: [1, null, 'é'] } }

  it.each<[string | undefined, string | Buffer, unknown, string?]>([
    ['application/json', json, value],
    ['APPLICATION/JSON; Charset="UTF-8"', json, value],
    ['application/json', `\uFEFF${json}`, value],
    ['application/json', '', {}],
    ['application/json', '[1,{"a":2}]', { body: [1, { a: 2 }] }],
    ['application/json', '"text"', { body: 'text' }],
    ['application/json', 'null', { body: null }],
    ['application/json; charset=utf-16le', Buffer.from(json, 'utf16le'), value],
    ['application/json; charset=iso-8859-1', Buffer.from(json, 'latin1'), value],
    ['application/json', gzipSync(json), value, 'gzip'],
    ['application/json', gzipSync(json), value, 'X-GZIP'],
    ['application/json', json, value, 'identity'],
    ['application/vnd.github+json', json, value],
    ['application/cloudevents+json; charset=utf-8', json, value],
    ['application/ld+json;profile="x"', json, value],
    [
      form,
      'From=%2B4930&Body=Hi+there&x=1&x=2&x=&empty',
      { From: '+4930', Body: 'Hi there', x: ['1', '2', ''], empty: '' },
    ],
    [`${form}; charset=UTF-8`, 'n=%C3%A9&__proto=1', { n: 'é', __proto: '1' }],
    [form, gzipSync('a=1'), { a: '1' }, 'gzip'],
    [`${form}; charset=iso-8859-1`, 'n=Stra%DFe+%80&m=100%', { n: 'Straße €', m: '100%' }],
    [`${form}; charset=windows-1251`, Buffer.from('n=%cf%F0\xe8', 'latin1'), { n: 'При' }],
    ['text/json', '{"a":1}', { a: 1 }],
    [
      formData,
      multipart(part('a', '1'), part('b', 'é\r\nx'), part('a', '2')),
      { a: ['1', '2'], b: 'é\r\nx' },
    ],
    ['text/plain', 'Just text: {"a":1}', { body: 'Just text: {"a":1}' }],
    ['text/xml; charset=iso-8859-1', Buffer.from('<a>é</a>', 'latin1'), { body: '<a>é</a>' }],
    ['application/xml', '<a/>', { body: '<a/>' }],
    ['application/soap+xml', '<a/>', { body: '<a/>' }],
    [undefined, json, value],
    [undefined, '12', { body: 12 }],
    [undefined, 'a=1&b', { body: 'a=1&b' }],
    [undefined, '', {}],
    [undefined, gzipSync('{"a":1}'), { a: 1 }, 'gzip'],
  ])('of type %s that is %j is the input', async (type, payload, input, coding) => {
    const { path } = await hookOf()
    const headers = { ...(type && { 'content-type': type }), ...(coding && { 'content-encoding': coding }) }
    const answer = await send(path, payload, headers)
    expect(answer).toMatchObject({ status: 200 })
    expect((await agent.reached(answer.body.execution_id, 'complete')).input).toEqual(input)
  })

  it.each<[number, string, string | Buffer, RegExp, string?]>([
    [415, 'application/octet-stream', 'x', /application\/octet-stream.*Send JSON/],
    [415, 'image/png', 'x', /image\/png/],
    [415, 'application/json; charset=klingon', '{}', /klingon.*UTF-8/],
    [415, 'application/json', '{}', /coding br/, 'br'],
    [415, formData, multipart(part('doc', 'x', '; filename="a.txt"')), /doc is a file/],
    [400, 'application/json', '{"a":', /JSON/],
    [400, 'application/json', '{"__proto__":{"a":1}}', /__proto__/],
    [400, form, '__proto__=1', /__proto__/],
    [400, form, 'n=Stra%DFe', /not valid utf-8/],
    [400, form, 'a&'.repeat(500_000), /more than 2000 fields/],
    [400, formData, multipart(...Array<string>(3_000).fill(part('a', ''))), /more than 2000 fields/],
    [400, 'application/problem+json', '{"a":"\\u0000"}', /U\+0000/],
    [400, form, 'a=%00', /U\+0000/],
    [400, 'text/plain', 'a\0b', /U\+0000/],
    [400, 'text/plain', Buffer.from([0x61, 0xff]), /not valid utf-8/],
    [400, formData, 'no form', /boundary/],
    [400, 'application/json', 'no gzip', /gzip/, 'gzip'],
    [400, 'application/json', '['.repeat(5_000) + ']'.repeat(5_000), /levels deep/],
    [413, 'application/json', gzipSync(`"${'a'.repeat(2_000_000)}"`), /decompression/, 'gzip'],
    [413, 'text/plain', 'a'.repeat(1_100_000), /large/i],
  ])(
    'is answered with %i where it is %s that can not be taken',
    async (status, type, payload, sentence, coding) => {
      const { path, id } = await hookOf()
      const headers = { 'content-type': type, ...(coding && { 'content-encoding': coding }) }
      const answer = await send(path, payload, headers)
      expect([answer.status, answer.body.error.message]).toEqual([status, expect.stringMatching(sentence)])
      const list = `${agent.path}/workflows/executions?workflow_id=${id}`
      expect((await stage.app.call('GET', list)).body).toMatchObject({ executions: [] })
    },
  )
})

it('templates and code read the query, the headers and the method, without what proves the caller', async () => {
  const nodes = {
    code: { type: 'code', code: 'return args.trigger' },
    filled: {
      type: 'http-request',
      method: 'POST',
      url: `${stage.server.url}/filled`,
      body: '{{trigger.query.tag.1}} {{trigger.method}} {{trigger.headers.x-event}}',
    },
  }
  const { path } = await hookOf(nodes, ['start > filled', 'filled > code'])
  const headers = {
    'content-type': 'application/json',
    'x-event': 'push',
    'X-Signature': 'abc',
    authorization: 'Basic c2VjcmV0',
    cookie: 'secret=1',
    'proxy-authorization': 'Basic c2VjcmV0',
  }
  const answer = await send(`${path}?tag=a&tag=b&one=%C3%A9&hub.mode=x`, '{}', headers)
  const execution = await agent.reached(answer.body.execution_id, 'complete')
  const { code } = agent.outputs(execution)
  expect(code).toMatchObject({
    kind: 'webhook',
    method: 'POST',
    query: { tag: ['a', 'b'], one: 'é', 'hub.mode': 'x' },
    headers: { 'x-event': 'push', 'x-signature': 'abc' },
  })
  expect(stage.server.requests.at(-1)?.body).toBe('b POST push')
  expect(JSON.stringify(code)).not.toMatch(/c2VjcmV0|secret=1/)
  expect(execution.cause).toEqual({ kind: 'webhook' })
  const retried = await stage.app.call<{ execution_id: string }>(
    'POST',
    `${agent.path}/workflows/executions/${execution.id}/retry`,
    { body: { from_node: 'code' } },
  )
  expect(agent.outputs(await agent.reached(retried.body.execution_id, 'complete')).code).toMatchObject({
    query: { tag: ['a', 'b'] },
  })
})

it('templates do not read the header of the gateway', async () => {
  const gateway = await startGateway()
  onTestFinished(() => gateway.close())
  const app = await buildApp({ environment: { ...gateway.environment, GATEWAY_HEADER: 'X-Gate-Token' } })
  onTestFinished(() => app.close())
  const headers = { 'x-gate-token': Object.values(await gateway.headers('ann@example.com')).join() }
  const post = async (path: string, body: object = {}) =>
    (await app.call<{ id: string; url: string }>('POST', path, { body, headers })).body
  const path = `/api/agents/${(await post('/api/agents', { name: 'hooked' })).id}/workflows`
  const data = { event: 'webhook', respond: 'at_end', response: { body: '{{trigger.headers}}' } }
  const nodes = [{ id: 'start', type: 'trigger', data }]
  const { id } = await post(path, { name: 'W', status: 'active', nodes, edges: [] })
  const { url } = await post(`${path}/${id}/hook`)
  const answer = await app.call('POST', new URL(url).pathname, {
    body: {},
    headers: { ...headers, 'x-a': 'b' },
  })
  expect(answer.body).toMatchObject({ 'x-a': 'b' })
  expect(answer.body).not.toHaveProperty('x-gate-token')
})

describe('a hook that answers at the end', () => {
  const atEnd = { respond: 'at_end' }
  const double = { type: 'code', code: 'return {twice: args.input.n * 2, text: "a\\"b"}' }
  const safe = { 'content-security-policy': 'sandbox', 'x-content-type-options': 'nosniff' }

  it('gives the output as JSON', async () => {
    const { path } = await hookOf({ double }, ['start > double'], atEnd)
    const answer = await send(path, '{"n":21}')
    expect(answer).toMatchObject({ status: 200, body: { twice: 42, text: 'a"b' } })
    expect(answer.headers).toMatchObject({ ...safe, 'content-type': 'application/json; charset=utf-8' })
  })

  it.each<[object, object]>([
    [
      { status: 201, body: { n: '{{nodes.double.twice}}', text: 'of {{n}}' } },
      { status: 201, body: { n: 42, text: 'of 21' } },
    ],
    [
      { status: '{{code}}', body: '{{nodes.double}}' },
      { status: 418, body: { twice: 42, text: 'a"b' } },
    ],
    [
      { headers: { 'Content-Type': 'text/html', 'X-Order': 'no {{n}}' }, body: '<b>{{n}}</b>' },
      {
        status: 200,
        headers: { 'content-type': 'text/html; charset=utf-8', 'x-order': 'no 21' },
        body: '<b>21</b>',
      },
    ],
    [
      { body: 'Hi {{trigger.query.name}}' },
      { headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'Hi Ann' },
    ],
    [
      { status: 303, headers: { location: 'https://example.com/?n={{n}}' } },
      { status: 303, headers: { location: 'https://example.com/?n=21' }, body: '' },
    ],
    [
      { status: 302, headers: { Location: '/{{trigger.query.name}}/ä ό?a=%20' } },
      { status: 302, headers: { location: '/Ann/%C3%A4%20%CF%8C?a=%20' }, body: '' },
    ],
    [
      {
        headers: { 'content-type': 'application/problem+json' },
        body: '{"t":"{{nodes.double.text}}","n":{{n}}}',
      },
      { body: { t: 'a"b', n: 21 }, headers: { 'content-type': 'application/problem+json' } },
    ],
    [
      { status: 204, body: { n: 1 } },
      { status: 204, body: '' },
    ],
    [
      { headers: { 'cache-control': 'max-age=60' }, body: [1, '{{n}}'] },
      { body: [1, 21], headers: { 'cache-control': 'max-age=60' } },
    ],
  ])('or as its response %j says', async (response, expected) => {
    const { path } = await hookOf({ double }, ['start > double'], { ...atEnd, response })
    const answer = await send(`${path}?name=Ann`, '{"n":21,"code":418}')
    expect(answer).toMatchObject({ ...expected, headers: { ...safe, ...Object(expected).headers } })
    expect(answer.headers).not.toHaveProperty('set-cookie')
  })

  it('says that it failed, and not why', async () => {
    const failing = { type: 'code', code: 'throw new Error("inner secret")' }
    const { path } = await hookOf({ failing }, ['start > failing'], atEnd)
    const { status, body } = await send(path, '{}')
    expect([status, body.error]).toEqual([
      500,
      {
        code: 'WORKFLOW_FAILED',
        details: {},
        message: expect.stringMatching(/ended in an error. See its execution \S+\.$/),
      },
    ])
  })

  it.each<[object, RegExp]>([
    [{ status: '{{n}}' }, /response.status/],
    [{ headers: { 'x-name': '{{lines}}' } }, /response.headers.x-name/],
    [{ headers: { location: '{{script}}' } }, /response.headers.location: must be a path/],
    [{ headers: { location: '/{{lines}}' } }, /response.headers.location/],
    [{ headers: { 'content-type': 'text/plain; charset={{lines}}' } }, /response.headers.content-type/],
  ])('says that its response %j can not be sent', async (response, issue) => {
    const { path } = await hookOf({}, [], { ...atEnd, response })
    const texts = { lines: 'a\r\nset-cookie: b', script: ' java\tscript:alert(1)' }
    const { status, body } = await send(path, JSON.stringify({ n: 7, ...texts }))
    expect([status, body.error.message]).toEqual([500, expect.stringMatching(issue)])
  })

  it('says that it was terminated', async () => {
    const { path, id } = await hookOf({ ask: { type: 'wait', approval: '?' } }, ['start > ask'], atEnd)
    const answer = send(path, '{}')
    const list = `${agent.path}/workflows/executions?workflow_id=${id}`
    const running = async () =>
      (await stage.app.call<{ executions: Execution[] }>('GET', list)).body.executions[0]?.id
    await expect.poll(running).toBeDefined()
    await agent.terminate((await running()) ?? '')
    expect(await answer).toMatchObject({ status: 500, body: { error: { message: /was terminated/ } } })
  })
})

describe('a trigger', () => {
  it.each<[string, object]>([
    ['respond', { event: 'webhook', respond: 'later' }],
    ['respond', { respond: 'at_end' }],
    ['respond', { event: 'message.received', respond: 'at_once' }],
    ['response', { event: 'webhook', response: {} }],
    ['response', { event: 'webhook', respond: 'at_once', response: { body: 'x' } }],
    ['response', { event: 'webhook', respond: 'at_end', response: 'x' }],
    ['response.colour', { event: 'webhook', respond: 'at_end', response: { colour: 1 } }],
    ...[99, 199, 600, 200.5, '200', 'x{{n}}', null].map((status): [string, object] => [
      'response.status',
      { event: 'webhook', respond: 'at_end', response: { status } },
    ]),
    ...[
      ...[
        'Set-Cookie',
        'Content-Security-Policy',
        'Access-Control-Allow-Origin',
        'Content-Length',
        'Refresh',
      ],
      ...['X-Accel-Redirect', 'x-sendfile', 'X-Frame-Options', 'X-Content-Type-Options', 'X-Forwarded-Host'],
      ...['X-Request-Id', 'X-LiteSpeed-Location', 'x y'],
    ].map((name): [string, object] => [
      `response.headers.${name}`,
      { event: 'webhook', respond: 'at_end', response: { headers: { [name]: 'a' } } },
    ]),
    ...(
      [
        ['x-a', { 'x-a': 'a\nb' }],
        ['x-a', { 'x-a': '1', 'X-A': '2' }],
        ['location', { location: 'javascript:alert({{n}})' }],
        ['Location', { Location: 'data:text/html,x' }],
        ['content-type', { 'content-type': 'text/plain; charset=iso-8859-1' }],
      ] as const
    ).map(([name, headers]): [string, object] => [
      `response.headers.${name}`,
      { event: 'webhook', respond: 'at_end', response: { headers } },
    ]),
  ])('is not saved with such a %s: %j', async (field, data) => {
    const nodes = [{ id: 'start', type: 'trigger', data }]
    const body = { name: 'W', nodes, edges: [] }
    const answer = await stage.app.call<{ error: object }>('POST', `${agent.path}/workflows`, { body })
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { details: { problems: [{ node: 'start', field: `data.${field}` }] } } },
    })
  })
})

describe('an execution that is waited for', () => {
  const execute = (workflow_id: string, wait: unknown, headers = {}) =>
    stage.app.call<Execution & { execution_id: string }>('POST', `${agent.path}/workflows/execute`, {
      body: { workflow_id, input: { n: 21 }, wait },
      headers,
    })

  it('is the answer once it has ended, well or not, also for a repeated request', async () => {
    const good = await agent.create(
      { start: { type: 'trigger' }, end: { type: 'code', code: 'return {n: 1}' } },
      ['start > end'],
    )
    const headers = { 'idempotency-key': 'once' }
    const first = await execute(good, 60, headers)
    expect(first).toMatchObject({
      status: 200,
      body: { execution_id: first.body.id, status: 'complete', output: { n: 1 }, input: { n: 21 } },
    })
    expect(first.body.node_results).toHaveLength(2)
    expect((await execute(good, 60, headers)).body).toEqual(first.body)
    const bad = await agent.create({ start: { type: 'trigger' }, end: { type: 'loop', items: 'x' } }, [
      'start > end',
    ])
    expect((await execute(bad, 60)).body).toMatchObject({
      status: 'errored',
      error: expect.stringContaining('end'),
    })
  })

  it('is the answer as it runs once the time is over', async () => {
    const id = await agent.create({ start: { type: 'trigger' }, ask: { type: 'wait', approval: '?' } }, [
      'start > ask',
    ])
    const { status, body } = await execute(id, 0.05)
    expect({ status, body }).toMatchObject({ status: 200, body: { status: 'running', output: null } })
    await agent.terminate(body.execution_id)
  })

  it.each([61, -1, '5', true])('is refused for %j seconds', async wait => {
    const id = await agent.create({ start: { type: 'trigger' } }, [])
    expect(await execute(id, wait)).toMatchObject({ status: 400 })
  })

  it('takes a place, of which an agent has 50, and gives it back', async () => {
    const crowded = await stage.newAgent()
    const id = await crowded.create(
      { start: { type: 'trigger' }, ask: { type: 'wait', approval: '?' } },
      ['start > ask'],
      { concurrency: 1_000 },
    )
    const body = { workflow_id: id, wait: 60 }
    const call = () => stage.app.call<{ id: string }>('POST', `${crowded.path}/workflows/execute`, { body })
    const waiting = Array.from({ length: 50 }, call)
    const list = `${crowded.path}/workflows/executions?limit=100`
    const running = async () =>
      (await stage.app.call<{ executions: Execution[] }>('GET', list)).body.executions
    await expect.poll(async () => (await running()).length).toBe(50)
    expect(await call()).toMatchObject({ status: 503, body: { error: { code: 'OVERLOADED' } } })
    expect(await running()).toHaveLength(50)
    for (const one of await running()) await crowded.terminate(one.id)
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect(
      (await stage.app.call('POST', `${crowded.path}/workflows/execute`, { body: { ...body, wait: 0 } }))
        .status,
    ).toBe(200)
  })
})
