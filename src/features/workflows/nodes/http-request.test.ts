import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp } from '#test/support/build-app.ts'
import { heldStream } from '#test/support/chat-model.ts'
import { eventually } from '#test/support/eventually.ts'
import { startModelServer } from '#test/support/model-server.ts'
import { type NodeAgent, type NodeStage, setNodeStage } from '#test/support/node-stage.ts'
import { workflowCalls } from '#test/support/workflows.ts'

let stage: NodeStage
let agent: NodeAgent

beforeAll(async () => {
  stage = await setNodeStage({ LOG_LEVEL: 'trace' })
  agent = await stage.newAgent()
})
afterAll(() => stage[Symbol.asyncDispose]())

/** A node that sends a request to the server of the test. */
function request(path: string, others: object = {}) {
  return { type: 'http-request', url: stage.server.url + path, ...others }
}

const last = () => stage.server.requests.at(-1)
const order = { id: 'a/b?c=d#e', total: 7.5, name: 'Ada & Bob', note: null, tags: ['x', 'y'] }

describe('a request', () => {
  it('is sent with values in its path, query, headers and body, and its answer is the output', async () => {
    stage.replyWith(() => ({ status: 201, headers: { 'x-kind': 'new' }, json: { made: [1, 'two'] } }))
    const node = request('/orders/{{order.id}}/items?name={{order.name}}', {
      method: 'POST',
      query: { total: '{{order.total}}', tag: '{{order.tags}}', note: '{{order.note}}', from: 'us' },
      headers: { 'X-Order': 'of {{order.name}}' },
      body: { order: { total: '{{order.total}}', tags: '{{order.tags}}', text: '{{order.total}} €' } },
    })
    const { output, status, execution, warnings } = await agent.runNode(node, { order })
    expect(status).toBe('complete')
    expect(last()).toMatchObject({
      method: 'POST',
      path: '/orders/a%2Fb%3Fc%3Dd%23e/items?name=Ada%20%26%20Bob&total=7.5&tag=x&tag=y&from=us',
      headers: {
        'x-order': 'of Ada & Bob',
        'content-type': 'application/json',
        'idempotency-key': `${execution.id}:node:`,
      },
      body: { order: { total: 7.5, tags: ['x', 'y'], text: '7.5 €' } },
    })
    expect(output).toEqual({
      status: 201,
      headers: expect.objectContaining({ 'x-kind': 'new', 'content-type': 'application/json' }),
      body: { made: [1, 'two'] },
      url: stage.server.url + last()?.path,
    })
    expect(warnings).toEqual(['{{order.note}} is empty'])
  })

  it('is answered with headers that are texts, but several cookies are a list', async () => {
    const cookies = ['a=1; Path=/', 'b=2; Expires=Wed, 21 Oct 2037 07:28:00 GMT']
    stage.replyWith(({ path }) => ({
      headers: { 'set-cookie': path === '/two' ? cookies : 'a=1', link: ['<x>', '<y>'], vary: 'Accept' },
      json: {},
    }))
    const headersOf = async (path: string) => Object((await agent.runNode(request(path))).output).headers
    expect(await headersOf('/two')).toMatchObject({ 'set-cookie': cookies, link: '<x>, <y>', vary: 'Accept' })
    expect(await headersOf('/one')).toMatchObject({ 'set-cookie': 'a=1' })
  })

  const hostile = 'a"\\\n\u2028&b=1\r\n--","admin":true,"x":"'
  const json = { 'Content-Type': 'application/json' }
  const form = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }
  const input = { t: hostile, list: ['x y', 'ü', 1], n: 5, none: null, o: { a: 1 }, made: '{"a":[1]}' }

  it.each<[string, Record<string, string>, unknown]>([
    ['{"admin":false,"text":"{{t}}"}', json, { admin: false, text: hostile }],
    [
      '{"a":"<{{n}}>","n":{{n}},"all":{{list}},"gone":{{none}}}',
      json,
      { a: '<5>', n: 5, all: input.list, gone: null },
    ],
    [
      '{"o":{{o}},"v":[1]}',
      { 'content-type': 'application/vnd.api+json; charset=utf-8' },
      { o: { a: 1 }, v: [1] },
    ],
    ['[{{t}}, {"{{t}}": 1}]', {}, [hostile, { [hostile]: 1 }]],
    ['{{made}}', json, { a: [1] }],
    ['{{t}}', json, hostile],
    ['{{list}}', json, input.list],
    ['{"t":"{{t}}"}', { 'content-type': '' }, { t: hostile }],
  ])('escapes values in the JSON text %s', async (body, headers, expected) => {
    const { status } = await agent.runNode(request('/', { method: 'POST', headers, body }), input)
    expect(status).toBe('complete')
    expect(last()?.body).toEqual(expected)
  })

  it.each(['x-ndjson', 'jsonl', 'json-seq'])(
    'escapes values in lines of %s, and sends whole ones as they are',
    async type => {
      const headers = { 'content-type': `application/${type}` }
      const send = (body: string, lines: string) =>
        agent.runNode(request('/', { method: 'POST', headers, body }), { t: hostile, lines })
      await send('{"t":"{{t}}"}\n[{{t}}]\n', '')
      expect(
        String(last()?.body)
          .split('\n')
          .slice(0, 2)
          .map(line => JSON.parse(line)),
      ).toEqual([{ t: hostile }, [hostile]])
      await send('{{lines}}', '{"a":1}\n{"b":2}\n')
      expect(last()?.body).toBe('{"a":1}\n{"b":2}\n')
    },
  )

  it('names the field of a form that can hold no list', async () => {
    const { error } = await agent.runNode(
      request('/', { method: 'POST', headers: form, body: 'a=<{{list}}>' }),
      input,
    )
    expect(error).toMatch(/^a: holds a list/)
  })

  it.each<[unknown, [string, string][]]>([
    [
      { 'tag[]': '{{list}}', b: [true, null] },
      [
        ['tag[]', 'x y'],
        ['tag[]', 'ü'],
        ['tag[]', '1'],
        ['b', 'true'],
        ['b', ''],
      ],
    ],
    [
      { t: '{{t}}', none: '{{none}}', empty: [] },
      [
        ['t', hostile],
        ['none', ''],
      ],
    ],
    [
      't={{t}}&tag={{ list }}&n=<{{n}}>&f',
      [
        ['t', hostile],
        ['tag', 'x y'],
        ['tag', 'ü'],
        ['tag', '1'],
        ['n', '<5>'],
        ['f', ''],
      ],
    ],
    ['{{t}}={{t}}', [[hostile, hostile]]],
    ['{{o}}', [['a', '1']]],
  ])('encodes values in the form %j', async (body, expected) => {
    const { status } = await agent.runNode(request('/', { method: 'POST', headers: form, body }), input)
    expect(status).toBe('complete')
    expect([...new URLSearchParams(String(last()?.body))]).toEqual(expected)
    expect(last()?.headers).toMatchObject(form)
  })

  it.each([
    ['application/x-www-form-urlencoded', { a: '{{o}}' }, /a: holds an object/],
    ['application/x-www-form-urlencoded', { a: [['x']] }, /a: holds a list/],
    ['application/x-www-form-urlencoded', 'a={{o}}', /a: holds an object/],
    ['application/x-www-form-urlencoded', 'a=<{{list}}>', /holds a list/],
    ['application/x-www-form-urlencoded', ['a'], /object of fields/],
    ['multipart/form-data', { a: { b: 1 } }, /a: holds an object/],
    ['multipart/form-data', '{{t}}', /object of fields/],
    ['multipart/form-data', { a: { filename: 'a', data: '!' } }, /a.data: is not base64/],
    [
      'multipart/form-data',
      { a: { filename: 'a', data: '', content_type: 'a/b\r\nX: y' } },
      /a.content_type/,
    ],
  ])('does not send as %s: %j', async (type, body, message) => {
    const node = request('/', { method: 'POST', headers: { 'Content-Type': type }, body })
    const { status, error } = await agent.runNode(node, input)
    expect([status, error]).toEqual(['errored', expect.stringMatching(message)])
  })

  it('has a multipart form with boundary, fields and files', async () => {
    const file = { filename: 'a"\r\nX-Y: z.txt', content_type: 'text/plain', data: btoa('0\u0001\r\n--form') }
    const body = { 'n"\r\nX: y': '{{t}}', tags: '{{list}}', file: [file, { filename: 'b', data: '' }] }
    const headers = { 'Content-Type': 'multipart/form-data; boundary=mine' }
    const { status } = await agent.runNode(request('/', { method: 'POST', headers, body }), input)
    expect(status).toBe('complete')
    const { body: sent, headers: received } = last() ?? {}
    const read = await new Response(String(sent), {
      headers: { 'content-type': String(received?.['content-type']) },
    }).formData()
    const found = await Promise.all(
      [...read].map(async ([name, value]) => [
        name,
        typeof value === 'string' ? value : [value.name, value.type, await value.text()],
      ]),
    )
    expect(found).toEqual([
      ['n"\r\nX: y', hostile],
      ['tags', 'x y'],
      ['tags', 'ü'],
      ['tags', '1'],
      ['file', ['a"\r\nX-Y: z.txt', 'text/plain', '0\u0001\r\n--form']],
      ['file', ['b', 'application/octet-stream', '']],
    ])
    for (const text of ['a={{t}}', '--x'])
      expect(
        await agent.save(
          request('/', { method: 'POST', headers: { 'Content-Type': 'multipart/form-data' }, body: text }),
        ),
      ).toMatchObject({ status: 400 })
  })

  it('has a text, a form or no body, and no key where it only reads', async () => {
    await agent.runNode(request('/', { method: 'PUT', body: 'Total: {{order.total}}' }), { order })
    expect(last()).toMatchObject({ body: 'Total: 7.5', headers: { 'content-type': /^text\/plain/ } })
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const body = { name: '{{order.name}}', total: '{{order.total}}' }
    await agent.runNode(request('/', { method: 'PATCH', headers: form, body }), { order })
    expect(last()).toMatchObject({ body: 'name=Ada+%26+Bob&total=7.5' })
    await agent.runNode(request('/read'), {})
    expect(last()).toMatchObject({ method: 'GET', path: '/read', body: '' })
    expect(last()?.headers).not.toHaveProperty('idempotency-key')
    await agent.runNode(request('/', { method: 'DELETE', headers: { 'Idempotency-Key': 'my-{{own}}' } }), {
      own: 1,
    })
    expect(last()?.headers).toMatchObject({ 'idempotency-key': 'my-1' })
  })

  it.each([
    ['DELETE', '/orders/{{id}}', {}],
    ['POST', '/orders/{{id}}/cancel', { id: '' }],
    ['PUT', '/orders?id={{id}}', { id: null }],
  ])('that changes something has no empty template in its address: %s %s', async (method, path, input) => {
    const before = stage.server.requests.length
    const { status, error } = await agent.runNode(request(path, { method }), input)
    expect([status, error]).toEqual(['errored', expect.stringContaining('without a value')])
    expect(stage.server.requests).toHaveLength(before)
  })

  it('that reads may have an empty template in its address, with a warning', async () => {
    const { status, warnings } = await agent.runNode(request('/orders?q={{text}}'), {})
    expect([status, warnings]).toEqual(['complete', ['{{text}} is empty']])
    expect(last()).toMatchObject({ method: 'GET', path: '/orders?q=' })
  })

  it.each(['..', '.', '%2e%2e'])('does not leave its path by %s', async id => {
    const before = stage.server.requests.length
    const { status, error } = await agent.runNode(request('/orders/{{id}}/x', { method: 'DELETE' }), { id })
    if (id.startsWith('%')) return expect(last()?.path).toBe('/orders/%252e%252e/x')
    expect([status, error]).toEqual(['errored', expect.stringContaining('is not under')])
    expect(stage.server.requests).toHaveLength(before)
  })

  it('holds what attackers write as it is, never evaluated', async () => {
    const hostile = [
      '{{order.total}}',
      '{{constructor.constructor}}',
      '\\..\\',
      '//evil.example',
      '@evil.example',
      '\r\nX: y',
    ]
    for (const text of hostile) {
      await agent.runNode(request('/a/{{text}}', { method: 'POST', body: { text: '{{text}}' } }), {
        text,
        order,
      })
      expect(last()).toMatchObject({ path: `/a/${encodeURIComponent(text)}`, body: { text } })
    }
  })

  it('is not sent with a line break in a header', async () => {
    const before = stage.server.requests.length
    const node = request('/', { headers: { 'X-Name': '{{name}}' } })
    const { status, error } = await agent.runNode(node, { name: 'a\r\nX-Other: b' })
    expect([status, error]).toEqual(['errored', expect.stringMatching(/X-Name: must not hold a line break/)])
    expect(stage.server.requests).toHaveLength(before)
  })

  it('goes through the guard', async () => {
    const app = await testApp({ environment: { DEV_USER: 'dev@example.com' } })
    const calls = workflowCalls(app)
    const nodes = {
      start: { type: 'trigger' },
      node: request('/', { retries: { max: 3, delay_seconds: 0 } }),
    }
    const execution = await calls.run(await calls.create(nodes, ['start > node']))
    expect(execution.node_results).toContainEqual(
      expect.objectContaining({
        node_id: 'node',
        status: 'errored',
        attempts: 1,
        error: expect.stringMatching(/OUTBOUND_ALLOW/),
      }),
    )
  })
})

describe('what can not be sent is refused when it is saved', () => {
  it.each([
    ['url', { url: '{{base}}/orders' }],
    ['url', { url: 'https://{{host}}/orders' }],
    ['url', { url: 'https://example.com:{{port}}/' }],
    ['url', { url: '{{scheme}}://example.com/' }],
    ['url', { url: 'https://api.{{host}}/' }],
    ['url', { url: 'ftp://example.com/' }],
    ['url', { url: 'orders' }],
    ['url', { url: 'https://user:password@example.com/' }],
    ['url', { url: 'https://example.com\\@evil.example/' }],
    ['url', { url: 7 }],
    ['method', { method: 'TRACE' }],
    ['query', { query: [] }],
    ['headers', { headers: '{{headers}}' }],
    ['headers', { headers: { 'X Y': 'z' } }],
    ['headers.X-A', { headers: { 'X-A': 'a\r\nb' } }],
    ['headers.Host', { headers: { Host: 'evil.example' } }],
    ['body', { method: 'GET', body: { a: 1 } }],
    ['colour', { colour: 'red' }],
  ])('%s of %j', async (field, data) => {
    const node = { type: 'http-request', url: 'https://example.com/', ...data }
    for (const status of ['draft', 'active']) {
      const { status: code, body } = await agent.save(node, status)
      expect({ code, problems: body.error?.details.problems }).toMatchObject({
        code: 400,
        problems: [{ node: 'node', field: `data.${field}` }],
      })
    }
  })

  it('but what is missing only once it is active', async () => {
    for (const node of [{ type: 'http-request' }, { type: 'http-request', url: '' }]) {
      expect(await agent.save(node, 'draft')).toMatchObject({
        status: 201,
        body: { warnings: [{ node: 'node', field: 'data.url', issue: 'is required' }] },
      })
      expect((await agent.save(node)).status).toBe(400)
    }
  })
})

describe('a refusal', () => {
  const retries = { max: 3, delay_seconds: 0 }
  const answers = (...statuses: number[]) => {
    const rest = [...statuses]
    stage.replyWith(() => ({
      status: rest.shift() ?? 200,
      headers: { 'retry-after': '0' },
      json: { said: 'so' },
    }))
  }

  it.each([408, 425, 429, 500, 503])('with status %i is tried again, under the same key', async code => {
    const before = stage.server.requests.length
    answers(code, code)
    const { status, attempts } = await agent.runNode(request('/', { method: 'POST', retries }))
    expect({ status, attempts }).toEqual({ status: 'complete', attempts: 3 })
    const keys = stage.server.requests.slice(before).map(({ headers }) => headers['idempotency-key'])
    expect([keys.length, new Set(keys).size]).toEqual([3, 1])
  })

  it.each([400, 401, 404, 409, 422])('with status %i is final', async code => {
    answers(code, 200)
    const { status, attempts, error } = await agent.runNode(request('/', { retries }))
    expect({ status, attempts, error }).toEqual({
      status: 'errored',
      attempts: 1,
      error: `The server answered with status ${code}: {"said":"so"}`,
    })
  })

  it('is the output where it is no failure', async () => {
    answers(404)
    const { status, output } = await agent.runNode(request('/', { fail_on_status: false, retries }))
    expect({ status, output }).toMatchObject({
      status: 'complete',
      output: { status: 404, body: { said: 'so' } },
    })
  })

  it('leaves by the edge for errors', async () => {
    answers(404)
    const nodes = {
      start: { type: 'trigger' },
      call: request('/'),
      after: {
        type: 'switch',
        value: '{{nodes.call.error.code}}',
        cases: [{ handle: 'failed', value: 'TOOL_FAILED' }],
      },
    }
    const execution = await agent.run(await agent.create(nodes, ['start > call', 'call/error > after']))
    expect(execution.status).toBe('complete')
    expect(agent.outputs(execution).after).toEqual({ handle: 'failed' })
  })

  it('waits as long as the server asks', async () => {
    stage.replyWith(() => ({ status: 429, headers: { 'retry-after': '3600' }, json: {} }))
    const id = await agent.begin(request('/', { retries }))
    await agent.waiting(id, 'node')
    const { waiting_until, started_at } = (await agent.get(id)).body
    expect(Date.parse(waiting_until ?? '') - Date.parse(started_at ?? '')).toBeGreaterThan(3_500_000)
    expect(await agent.terminate(id)).toMatchObject({ status: 200 })
  })

  it('of the connection is tried again', async () => {
    const gone = await startModelServer(() => ({ json: {} }))
    await gone[Symbol.asyncDispose]()
    const node = { type: 'http-request', url: gone.url, retries: { max: 2, delay_seconds: 0 } }
    const { status, attempts, error } = await agent.runNode(node)
    expect([status, attempts, error]).toEqual([
      'errored',
      3,
      expect.stringContaining('refused the connection'),
    ])
  })
})

it('terminating an execution ends its request', async () => {
  const held = heldStream([''])
  stage.replyWith(() => held.reply)
  const id = await agent.begin(request('/hang'))
  await held.begun
  expect(await agent.terminate(id)).toMatchObject({ status: 200, body: { status: 'terminated' } })
  await held.ended
  await eventually(async () => expect((await agent.get(id)).body.status).toBe('terminated'))
})

describe('sealed headers', () => {
  const secret = 'sk-live-0123456789'
  const headers = { Authorization: `Bearer ${secret}`, 'X-Tenant': '{{tenant}}', Accept: 'text/csv' }
  const masked = { Authorization: '********', 'X-Tenant': '********{{tenant}}', Accept: 'text/csv' }
  const put = (id: string, data: object) => {
    const nodes = [
      { id: 'start', type: 'trigger' },
      { id: 'node', type: 'http-request', data },
    ]
    return stage.app.call<{ nodes: { data: object }[]; error: { message: string } }>(
      'PUT',
      `${agent.path}/workflows/${id}`,
      { body: { nodes } },
    )
  }

  it('are sent, and shown to nobody', async () => {
    stage.replyWith(({ headers: sent }) => ({
      headers: { 'x-echo': sent.authorization ?? '' },
      json: { sent, key: secret },
    }))
    const saved = await agent.save(request('/', { headers }))
    expect(saved.body.nodes[1]?.data).toMatchObject({ headers: masked })
    const read = await stage.app.call<{ nodes: { data: object }[] }>(
      'GET',
      `${agent.path}/workflows/${saved.body.id}`,
    )
    expect(read.body.nodes[1]?.data).toMatchObject({ headers: masked })
    const execution = await agent.run(saved.body.id, { tenant: 'acme' })
    expect(last()?.headers).toMatchObject({
      authorization: `Bearer ${secret}`,
      'x-tenant': 'acme',
      accept: 'text/csv',
    })
    expect(execution).toMatchObject({ status: 'complete' })
    expect(agent.outputs(execution).node).toMatchObject({
      headers: { 'x-echo': '********' },
      body: { sent: { 'x-tenant': 'acme' }, key: '********' },
    })
    const failing = await agent.run(
      await agent.create(
        { start: { type: 'trigger' }, node: request('/', { headers, url: 'http://127.0.0.1:9/' }) },
        ['start > node'],
      ),
    )
    expect(failing.status).toBe('errored')
    const rows = await stage.app.call('POST', `${agent.path}/sql`, {
      body: { query: 'SELECT * FROM workflow_versions' },
    })
    const outputs = [read.body, execution, failing, rows.body, stage.app.logged]
    expect(outputs.filter(output => JSON.stringify(output).includes(secret))).toEqual([])
    const files = readdirSync(stage.app.dataDirectory, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
    expect(files.filter(file => file.includes(secret))).toEqual([])
  })

  it('go to no other origin, by a redirect or by an edit', async () => {
    const other = await startModelServer(({ headers: sent }) => ({ json: sent }))
    stage.replyWith(() => ({ status: 307, headers: { location: `${other.url}/elsewhere` }, json: {} }))
    const id = (await agent.save(request('/', { headers: { ...headers, 'X-Secret': secret } }))).body.id
    const execution = await agent.run(id, { tenant: 'acme' })
    expect(agent.outputs(execution).node).toMatchObject({ url: `${other.url}/elsewhere` })
    expect(other.requests).toHaveLength(1)
    expect(JSON.stringify(other.requests)).not.toContain(secret)
    const moved = await put(id, { url: other.url, headers: { ...masked, 'X-Secret': '********' } })
    expect(moved).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('another server') } },
    })
    await other[Symbol.asyncDispose]()
  })

  it('stay when their mask comes back, and only then', async () => {
    const id = (await agent.save(request('/', { headers }))).body.id
    const url = `${stage.server.url}/moved`
    expect(await put(id, { url, headers: masked })).toMatchObject({ status: 200 })
    await agent.run(id, { tenant: 'acme' })
    expect(last()).toMatchObject({
      path: '/moved',
      headers: { authorization: `Bearer ${secret}`, 'x-tenant': 'acme' },
    })
    await put(id, { url, headers: { ...masked, Authorization: 'Bearer new-0123456789' } })
    await agent.run(id, { tenant: 'acme' })
    expect(last()).toMatchObject({ headers: { authorization: 'Bearer new-0123456789' } })
    expect(await put(id, { url, headers: { ...masked, 'X-Other': '********' } })).toMatchObject({
      status: 400,
    })
    expect(await agent.save(request('/', { headers: masked }))).toMatchObject({ status: 400 })
  })
})
