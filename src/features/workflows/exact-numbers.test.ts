import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseJson } from '#platform/exact-json.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { fakeMcpServer, toolNamed } from '#test/support/fake-mcp-server.ts'
import { openaiText, openaiToolCall } from '#test/support/model-server.ts'
import { seededRandom } from '#test/support/random.ts'
import { workflowCalls } from '#test/support/workflows.ts'

let stage: ChatStage
let url: string
let path: string
/** Method, path and body of the requests to the server outside, which answers what it was sent. */
const seen: string[] = []
const server = createServer(async (request, response) => {
  let body = ''
  for await (const piece of request.setEncoding('utf8')) body += piece
  seen.push(`${request.method} ${request.url} ${body}`)
  response.writeHead(200, { 'content-type': 'application/json' }).end(body || '{}')
})

beforeAll(async () => {
  stage = await setChatStage({ environment: { OUTBOUND_ALLOW: '127.0.0.1' } })
  path = (await stage.makeChat()).replace(/\/chat$/, '')
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  server.close()
})

/** Sends JSON as it is written; the answer with its numbers. */
async function send(method: 'GET' | 'POST' | 'PUT', below: string, body?: string) {
  const headers = { 'content-type': 'application/json' }
  const url = path + below
  const answer = await stage.app.service.app.inject(
    body === undefined ? { method, url } : { method, url, headers, payload: body },
  )
  return { status: answer.statusCode, text: answer.body, body: parseJson(answer.body) }
}

async function runWorkflow(nodes: object, edges: string[], input: string): Promise<string> {
  const calls = workflowCalls(stage.app, path)
  const id = await calls.create(nodes as Parameters<typeof calls.create>[0], edges)
  const started = await send('POST', '/workflows/execute', `{"workflow_id":"${id}","input":${input}}`)
  expect(started).toMatchObject({ status: 200 })
  const ended = await calls.reached(started.body.execution_id, 'complete', 'errored')
  expect(ended.error ?? null).toBeNull()
  return (await send('GET', `/workflows/executions/${ended.id}`)).text
}

const random = seededRandom(37)

function randomDigits(most: number): string {
  const length = 1 + Math.floor(random.next() * most)
  const first = random.pick([...'123456789'])
  return first + Array.from({ length: length - 1 }, () => random.pick([...'0123456789'])).join('')
}

function randomNumber(): string {
  const sign = random.pick(['', '', '-'])
  return (
    sign +
    random.pick([
      () => randomDigits(100),
      () => randomDigits(20),
      () => `${random.pick(['0', randomDigits(18)])}.${randomDigits(20)}`,
      () => `0.000${randomDigits(18)}`,
      () => randomDigits(3) + random.pick(['e', 'E+', 'e-']) + randomDigits(3),
      () => String(random.next() * 1000),
      () => randomDigits(5),
    ])()
  )
}

function randomJson(levels: number): string {
  if (levels === 0 || random.next() < 0.3) return randomNumber()
  const inner = () => randomJson(levels - 1)
  return random.pick([
    () => `[${inner()}, ${inner()},${inner()}]`,
    () => `{"a":${inner()}, "id": ${inner()},"0":\n${inner()}}`,
    () => `[null,true,"${randomNumber()}",${inner()}]`,
  ])()
}

/** Each number as its digits and the power of ten that they are multiplied with, worked out by integers. */
function decimals(json: string): unknown {
  return JSON.parse(json, (_name, value, { source = '' }: { source?: string } = {}) => {
    if (typeof value !== 'number') return value
    const [mantissa = '', exponent = '0'] = source.toLowerCase().split('e')
    const [whole = '', fraction = ''] = mantissa.split('.')
    const digits = String(BigInt(whole + fraction))
    const short = digits.replace(/0+$/, '')
    const power = Number(exponent) - fraction.length + digits.length - short.length
    return short === '' || short === '-' ? { zero: true } : { digits: short, power }
  })
}

/** As code has it: numbers that a double would change are texts of the same digits. */
function inCode(json: string): unknown {
  return JSON.parse(json, (_name, value, { source = '' }: { source?: string } = {}) => {
    if (typeof value !== 'number') return value
    const isExact = Number.isFinite(value) && isSameDecimal(String(value), source)
    return isExact ? value : source
  })
}

function isSameDecimal(one: string, other: string): boolean {
  return JSON.stringify(decimals(one)) === JSON.stringify(decimals(other))
}

function textWith(json: string, mapped: unknown): string {
  return JSON.stringify({ json, mapped })
}

it('random numbers pass through input, requests, answers, templates and code with their values', async () => {
  const values = Array.from({ length: 150 }, () => randomJson(3))
  const json = `{"values":[${values.join(',')}]}`
  const nodes = {
    start: { type: 'trigger' },
    sent: { type: 'http-request', method: 'POST', url: `${url}/values`, body: '{{values}}' },
    again: {
      type: 'http-request',
      method: 'PUT',
      url,
      body: { list: '{{nodes.sent.body}}', text: '{{values}}' },
    },
    code: { type: 'code', code: 'return [args.input.values, args.nodes.again.body.list]' },
  }
  const text = await runWorkflow(nodes, ['start > sent', 'sent > again', 'again > code'], json)
  const { input, output, node_results } = JSON.parse(
    text,
    (_name, value, { source }: { source?: string } = {}) => (typeof value === 'number' ? { source } : value),
  )
  const written = (value: unknown): string => JSON.stringify(value).replace(/\{"source":"([^"]+)"\}/g, '$1')
  expect(decimals(written(input))).toEqual(decimals(json))
  const outputs = new Map<string, { body: unknown }>(
    node_results.map((result: { node_id: string; output: unknown }) => [result.node_id, result.output]),
  )
  const all = json.slice('{"values":'.length, -1)
  expect(decimals(written(outputs.get('sent')?.body))).toEqual(decimals(all))
  expect(decimals(String(seen.at(-1)).replace(/^PUT \/ /, ''))).toMatchObject({ list: decimals(all) })
  const { result } = JSON.parse(written(output))
  expect(textWith('input', result[0])).toBe(textWith('input', inCode(all)))
  expect(textWith('nodes', result[1])).toBe(textWith('nodes', inCode(all)))
})

const id = '7615917337495251231'

it('numbers that are written in nodes, loops, hooks and events keep their digits', async () => {
  const body = JSON.stringify({
    name: 'W',
    status: 'active',
    nodes: [
      { id: 'start', type: 'trigger', data: { event: 'webhook' } },
      { id: 'each', type: 'loop', data: { items: [`@${id}`, '{{big}}'] } },
      {
        id: 'send',
        type: 'http-request',
        data: {
          method: 'POST',
          url: `${url}/{{loop.item}}?n={{big}}`,
          body: { item: '{{loop.item}}', n: '@1e400' },
        },
      },
      {
        id: 'is',
        type: 'if-else',
        data: { conditions: [{ left: '{{big}}', operator: 'eq', right: `@${id}2` }] },
      },
    ],
    edges: [
      { id: 'a', source: 'start', target: 'each' },
      { id: 'b', source: 'each', target: 'send', sourceHandle: 'item' },
      { id: 'c', source: 'each', target: 'is', sourceHandle: 'done' },
    ],
  }).replace(/"@([^"]+)"/g, '$1')
  const saved = await send('POST', '/workflows', body)
  expect(saved).toMatchObject({ status: 201 })
  const { url: hook } = (await send('POST', `/workflows/${saved.body.id}/hook`)).body
  const called = await send('POST', hook.slice(hook.indexOf('/hooks/')), `{"big":${id}2}`)
  const ended = await workflowCalls(stage.app, path).reached(called.body.execution_id, 'complete', 'errored')
  expect(ended).toMatchObject({ status: 'complete', output: { result: true } })
  expect(seen.slice(-2)).toEqual([
    `POST /${id}?n=${id}2 {"item":${id},"n":1e400}`,
    `POST /${id}2?n=${id}2 {"item":${id}2,"n":1e400}`,
  ])
  // What was read can be saved again.
  const read = await send('GET', `/workflows/${saved.body.id}`)
  const put = await send(
    'PUT',
    `/workflows/${saved.body.id}`,
    JSON.stringify({ nodes: read.body.nodes, name: 'V' }),
  )
  expect(put).toMatchObject({ status: 200 })
  expect(put.text).toContain(`[${id},"{{big}}"]`)
})

it('metadata of contacts keep their numbers', async () => {
  const made = await send(
    'POST',
    '/contacts',
    `{"name":"Ada","metadata":{"crm":${id},"deep":[{"x":0.12345678901234567}]}}`,
  )
  expect(made).toMatchObject({ status: 201 })
  const kept = `{"crm":${id},"deep":[{"x":0.12345678901234567}]}`
  expect((await send('GET', `/contacts/${made.body.id}`)).text).toContain(kept)
  expect((await send('GET', '/contacts')).text).toContain(kept)
})

it.each([
  ['/workflows', `{"name":"W","nodes":[{"id":"w","type":"wait","data":{"seconds":${id}}}],"edges":[]}`],
  ['/workflows', `{"name":"W","nodes":[],"edges":[],"concurrency":1e400}`],
  ['/contacts', `{"name":${id}}`],
  ['/contacts', `{"name":"A","metadata":${id}}`],
  ['/provider/refund', `{"payment_id":"pi_123456","transaction_id":"t","amount":5.0000000000000000001}`],
  ['/sql/execute', `{"query":"select ?","params":[${id}]}`],
])('%s refuses a number that it would round: %s', async (below, body) => {
  const { status, text } = await send('POST', below, body)
  expect([status, text]).toEqual([400, expect.stringMatching(/would be rounded/)])
})

describe('a call of a tool', () => {
  const parameters = {
    type: 'object',
    properties: {
      id: { type: 'integer', minimum: 1, maximum: parseJson('9223372036854775807') },
      of: { type: 'number' },
    },
    required: ['id'],
  }
  const makeTool = (tool: object) =>
    send('POST', '/tools', JSON.stringify({ description: 'A tool.', ...tool }))
  const input = parseJson(`{"id":${id},"of":-1e400}`)

  it('by a model sends the number that the model gave', async () => {
    const [call, answer] = [openaiToolCall('delete_order', input), openaiText('Deleted.')]
    const configuration = { url: `${url}/orders/{id}`, method: 'DELETE', parameters }
    await makeTool({ name: 'delete_order', type: 'http', configuration })
    stage.model.next({ stream: call }, { stream: answer })
    const said = await send('POST', '/chat', '{"content":"Delete it.","autoRag":false}')
    expect(seen.at(-1)).toBe(`DELETE /orders/${id}?of=-1e400 `)
    const { conversationId } = said.body.assistantMessage
    const pages = [
      said,
      await send('GET', `/chat?conversationId=${conversationId}&search=deleted`),
      await send('GET', '/chat'),
    ]
    for (const { text } of pages) expect(text).toContain(`"arguments":{"id":${id},"of":-1e400}`)
    const { messages } = stage.model.questions().at(-1) ?? { messages: [] }
    expect(JSON.stringify(messages)).toContain(`{\\"id\\":${id},\\"of\\":-1e400}`)
  })

  it.each(['JSON', 'YAML', 'a body of JSON'])('takes constants from OpenAPI documents in %s', async form => {
    const kind = form.replaceAll(' ', '_')
    const schema = `{"type":"integer","enum":[${id},5],"default":${id},"maximum":${id}}`
    const parameter = `{"name":"of","in":"query","schema":${schema}}`
    const paths = `{"/x":{"get":{"operationId":"get_${kind}","parameters":[${parameter}],"responses":{}}}}`
    const head = '"openapi":"3.1.0","info":{"title":"T","version":"1"}'
    const document = `{${head},"servers":[{"url":"${url}"}],"paths":${paths}}`
    const text =
      form === 'YAML'
        ? document
            .slice(1, -1)
            .replace(/,("servers"|"paths"|"info")/g, '\n$1')
            .replaceAll('":', '": ')
        : document
    const spec = form === 'a body of JSON' ? text : JSON.stringify(text)
    expect(await send('POST', '/tools/import-openapi', `{"spec":${spec}}`)).toMatchObject({ status: 201 })
    const listed = (await send('GET', '/tools')).body.data.find(
      ({ name }: { name: string }) => name === `get_${kind}`,
    )
    expect(JSON.stringify(listed)).toContain(`"enum":[${id},5],"default":${id}`)
  })

  it('gives JavaScript texts of the same digits', async () => {
    const code = 'return args'
    const tool = await makeTool({ name: 'same', type: 'javascript', configuration: { code, parameters } })
    expect(tool.text).toContain('"maximum":9223372036854775807')
    const tried = await send('POST', `/tools/${tool.body.data.id}/test`, JSON.stringify({ arguments: input }))
    expect(tried.body).toMatchObject({ success: true, data: { result: { id, of: '-1e400' } } })
  })

  it.each(['json', 'events'])('passes them to an MCP server and back, as %s', async form => {
    const fake = await fakeMcpServer([toolNamed('look', { inputSchema: parameters })])
    const structured = parseJson(`{"big":${id},"list":[1e400,"${id}",7]}`)
    fake.handle = (_request, response, message) => {
      if (form === 'json' || message?.method !== 'tools/call') return false
      const result = { content: [], structuredContent: structured }
      const lines = JSON.stringify({ jsonrpc: '2.0', id: message.id, result }, null, 1).split('\n')
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`event: message\n${lines.map(line => `data: ${line}\n`).join('')}\n`)
      return true
    }
    fake.callTool = () => ({ content: [], structuredContent: structured })
    const made = await send('POST', '/mcp', JSON.stringify({ name: form, url: fake.url }))
    expect(made).toMatchObject({ status: 201 })
    const called = { serverId: made.body.id, toolName: 'look' }
    const tool = await makeTool({ name: `look_${form}`, type: 'mcp', configuration: called })
    const tried = await send('POST', `/tools/${tool.body.data.id}/test`, JSON.stringify({ arguments: input }))
    expect(tried.text).toContain(`{"big":${id},"list":[1e400,"${id}",7]}`)
    expect(fake.seen.some(({ body }) => body.includes(`{"id":${id},"of":-1e400}`))).toBe(true)
  })

  it('from an MCP client does so, too', async () => {
    const configuration = { url: `${url}/items/{id}`, method: 'POST', parameters, body: { of: '{of}' } }
    await makeTool({ name: 'change_item', type: 'http', configuration })
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'change_item', arguments: input },
    }
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const payload = JSON.stringify(message)
    const answer = await stage.app.service.app.inject({
      method: 'POST',
      url: `${path}/mcp/endpoint`,
      headers,
      payload,
    })
    expect([answer.statusCode, seen.at(-1), answer.body]).toEqual([
      200,
      `POST /items/${id} {"of":-1e400}`,
      expect.stringContaining('-1e400'),
    ])
  })
})
