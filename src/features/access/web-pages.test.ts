import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { testApp } from '#test/support/build-app.ts'
import { type Gateway, startGateway } from '#test/support/gateway.ts'
import { connectMcp } from '#test/support/mcp-client.ts'

type Headers = Record<string, string>

/** Over a connection, since what stands in `Host` is otherwise made up. */
function send(address: string, call: string, headers: Headers, body?: string | object) {
  const [method = '', path = ''] = call.split(' ')
  const content = typeof body === 'object' ? JSON.stringify(body) : body
  const type = typeof body === 'object' ? { 'content-type': 'application/json' } : {}
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const sent = request(`${address}${path}`, { method, headers: { ...type, ...headers } })
    sent.on('error', reject).on('response', async response => {
      resolve({ status: response.statusCode ?? 0, body: await text(response) })
    })
    sent.end(content)
  })
}

const agent = '/api/agents/default'
const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
/** Calls by what they need, each of another method or area. */
const reads: [call: string, body?: object][] = [
  [`GET ${agent}`],
  [`GET ${agent}/chat/conversations`],
  [`GET ${agent}/sources/search?query=x`],
  ['GET /api/agents'],
]
const chats: [call: string, body?: object][] = [
  [`POST ${agent}/chat`, { content: 'Hello' }],
  [`POST ${agent}/mcp/endpoint`, listTools],
]
const changes: [call: string, body?: object][] = [
  [`PUT ${agent}`, { description: 'x' }],
  [`PUT ${agent}/settings`, { system_prompt: 'x' }],
  [`POST ${agent}/sql/execute`, { query: 'select 1' }],
  [`DELETE ${agent}/chat`],
]
const kinds = { read: reads, chat: chats, change: changes }
const mcpHeaders = { accept: 'application/json, text/event-stream' }

/** Which kinds of calls pass with these headers, `mixed` among them if some of a kind do. */
async function allowed(address: string, headers: Headers): Promise<string> {
  const passed: string[] = []
  for (const [kind, calls] of Object.entries(kinds)) {
    const answers = []
    for (const [call, body] of calls)
      answers.push(await send(address, call, { ...mcpHeaders, ...headers }, body))
    const statuses = new Set(answers.map(({ status }) => status))
    if (statuses.size > 1) passed.push(`mixed ${kind} ${[...statuses]}`)
    else if (statuses.has(200)) passed.push(kind)
    else expect([...statuses]).toEqual([403])
  }
  return passed.join(' ')
}

const everything = 'read chat change'
const page = 'read chat'

/** Undefined: the header is not sent, or says where the service listens. */
const ownHosts = [undefined, '127.0.0.1', 'localhost:3000', '[::1]:8080', '127.1.2.3:80']
const ownOrigins = [undefined, 'http://localhost:5173', 'https://127.0.0.1', 'http://[::1]:1']
const foreignHosts = [
  'rebound.evil.test',
  'localhost.evil.test:8080',
  '0.0.0.0:8080',
  'localhost@evil.test',
  'a b',
]
const foreignOrigins = [
  'https://evil.test',
  'null',
  'http://localhost.evil.test',
  'http://192.168.0.2',
  '',
  'localhost',
]

function headersOf(host: string | undefined, origin: string | undefined): Headers {
  return { ...(host === undefined ? {} : { host }), ...(origin === undefined ? {} : { origin }) }
}

function pairs(hosts: (string | undefined)[], origins: (string | undefined)[]) {
  return hosts.flatMap(host => origins.map(origin => headersOf(host, origin)))
}

describe('on a service for its own machine alone, without a login,', () => {
  const foreign = [
    ...pairs(foreignHosts, [undefined, 'http://localhost:5173']),
    ...pairs([undefined, 'localhost:3000'], foreignOrigins),
    ...pairs(['rebound.evil.test:8080'], ['http://rebound.evil.test:8080']),
  ]

  it('callers on this machine, and pages that it serves, may do everything', async () => {
    const address = await (await testApp()).listen()
    for (const headers of pairs(ownHosts, ownOrigins))
      expect([headers, await allowed(address, headers)]).toEqual([headers, everything])
  })

  it('a page of another site, or of a server that took our address, may read and chat', async () => {
    const address = await (await testApp()).listen()
    for (const headers of foreign) expect([headers, await allowed(address, headers)]).toEqual([headers, page])
  })

  it.each(['PUT', 'DELETE', 'POST'])('a %s of such a page is told what to do about it', async method => {
    const address = await (await testApp()).listen()
    const call = { PUT: `PUT ${agent}`, DELETE: `DELETE ${agent}/sources/x`, POST: `POST ${agent}/sources` }[
      method
    ]
    const answer = await send(address, call ?? '', { origin: 'https://evil.test' })
    expect(answer).toEqual({
      status: 403,
      body: expect.stringMatching(
        /^Access denied: web pages of other sites .*own address.*PUBLIC_ACCESS=full/,
      ),
    })
  })

  it('such a page sees the role that it has, and the tools that it may call', async () => {
    const app = await testApp()
    const address = await app.listen()
    const headers = { origin: 'https://evil.test' }
    const { body } = await app.call('GET', '/api/auth/agents', { headers })
    expect(body).toMatchObject({ agents: [{ id: 'default', role: 'viewer', power: 'chatter' }] })
    const { tools } = await (await connectMcp({ address, headers })).listTools()
    expect(tools.map(({ name }) => name)).toEqual(['chat', 'search_knowledge'])
  })

  it('BASE_URL is an address of our own', async () => {
    const environment = { BASE_URL: 'https://Agents.example.com/below' }
    const address = await (await testApp({ environment })).listen()
    const [host, origin] = ['agents.example.com', 'https://agents.example.com']
    for (const headers of pairs([undefined, host], [undefined, origin, 'http://localhost']))
      expect([headers, await allowed(address, headers)]).toEqual([headers, everything])
    const others = ['http://agents.example.com', 'https://agents.example.com:8443', 'https://example.com']
    for (const headers of [
      ...pairs([undefined, host], others),
      ...pairs(['example.com', `${host}:81`], [origin]),
    ])
      expect([headers, await allowed(address, headers)]).toEqual([headers, page])
  })

  it('DEV_USER is nobody to such a page, which may no more than read and chat either', async () => {
    const address = await (await testApp({ environment: { DEV_USER: 'dev@example.com' } })).listen()
    expect(await allowed(address, { origin: 'https://evil.test' })).toBe(page)
    expect(await allowed(address, {})).toBe(everything)
  })

  it.each<[environment: Headers, ofOwn: string]>([
    [{ PUBLIC_ACCESS: 'full' }, everything],
    [{ PUBLIC_ACCESS: 'chat' }, page],
    [{ PUBLIC_ACCESS: 'read' }, 'read'],
    [{ HOST: '0.0.0.0' }, everything],
  ])('pages are what all callers are with %j', async (environment, expected) => {
    const address = await (await testApp({ environment })).listen()
    for (const headers of [{}, { origin: 'https://evil.test' }, { host: 'evil.test' }])
      expect([headers, await allowed(address, headers)]).toEqual([headers, expected])
  })
})

describe('behind a gateway', () => {
  let gateway: Gateway

  beforeAll(async () => {
    gateway = await startGateway()
  })

  afterAll(() => gateway.close())

  /** An agent of a user, and how the service answers to what comes with the user's token. */
  async function stage(environment: Headers = {}) {
    const app = await testApp({ environment: { ...gateway.environment, ...environment } })
    const [token = ''] = Object.values(await gateway.headers('me@example.com'))
    const isBearer = environment.GATEWAY_HEADER === 'Authorization'
    const signedIn: Headers = isBearer
      ? { authorization: `Bearer ${token}` }
      : { 'edge-access-jwt-assertion': token }
    const path = `/api/agents/${await makeAgent(app, { headers: signedIn })}`
    const address = await app.listen()
    const call = async (line: string, headers: Headers = {}, body?: string | object) =>
      (await send(address, line.replace('…', path), { ...signedIn, ...headers }, body)).status
    return { address, path, call }
  }

  const origin = 'https://evil.test'
  const foreign: Headers[] = [
    { origin },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:3000' },
    { 'sec-fetch-site': 'cross-site' },
    { origin, 'sec-fetch-site': 'same-site' },
    { host: 'agents.example.com', origin: 'https://agents.example.com:8443' },
  ]
  const own: Headers[] = [
    {},
    { host: 'agents.example.com', origin: 'https://agents.example.com' },
    {
      host: 'agents.example.com:81',
      origin: 'http://agents.example.com:81',
      'sec-fetch-site': 'same-origin',
    },
    { 'sec-fetch-site': 'none' },
  ]

  it.each([
    ['PUT …', { description: 'x' }],
    ['POST …/chat', { content: 'Hello' }],
    ['DELETE …/chat'],
    ['POST /api/agents/default/chat', { content: 'Hello' }],
  ])(
    '%s is refused where another site may have sent it in the name of a user',
    async (line, body?: object) => {
      const { call } = await stage()
      for (const headers of foreign)
        expect([headers, await call(line, headers, body)]).toEqual([headers, 403])
      for (const headers of own) expect([headers, await call(line, headers, body)]).toEqual([headers, 200])
    },
  )

  it('other sites may read, since no browser shows them what a cookie has opened', async () => {
    const { call } = await stage()
    for (const headers of [...foreign, ...own]) expect(await call('GET …', headers)).toBe(200)
  })

  it('BASE_URL is an address of our own, whatever name a proxy asks for', async () => {
    const { call } = await stage({ BASE_URL: 'https://agents.example.com/below' })
    const put = (from: string) => call('PUT …', { origin: from }, { description: 'x' })
    expect(await put('https://agents.example.com')).toBe(200)
    expect(await put('https://agents.example.org')).toBe(403)
  })

  it('a refusal says so, and a bad token is told before it', async () => {
    const { address, path } = await stage()
    const [ended, nobody] = await Promise.all([
      gateway.headers('me@example.com', { exp: 1_000_000_000 }),
      gateway.headers('me@example.com', { email: undefined }),
    ])
    const put = (headers: Headers, of = path) =>
      send(address, `PUT ${of}`, { ...headers, origin }, { description: 'x' })
    expect((await put(ended)).status).toBe(401)
    expect(await put(await gateway.headers('me@example.com'))).toEqual({
      status: 403,
      body: expect.stringMatching(/^Access denied: a web page of another site .*BASE_URL/),
    })
    // Nobody is there to act for.
    expect((await put(nobody, agent)).status).toBe(200)
    expect((await put({}, agent)).status).toBe(200)
  })

  describe('that uses Authorization', () => {
    const bearer = { GATEWAY_HEADER: 'Authorization' }

    it.each([['PUT …', { description: 'x' }], ['POST …/chat', { content: 'Hello' }], ['DELETE …/chat']])(
      'a script may put its token there, for which browsers ask first: %s',
      async (line, body?: object) => {
        const { call } = await stage(bearer)
        for (const headers of foreign)
          expect([headers, await call(line, headers, body)]).toEqual([headers, 200])
      },
    )

    it.each([
      ['a form', 'application/x-www-form-urlencoded', 'a=b'],
      ['a form with a file', 'multipart/form-data; boundary=x', '--x--'],
      ['plain text', 'text/plain', '{"content":"Hello"}'],
      ['text that is called JSON besides', 'text/plain; charset=application/json', '{}'],
      ['nothing', undefined, ''],
    ])('what browsers send without asking may have it from a cookie: %s', async (_what, type, body) => {
      const { call } = await stage(bearer)
      const content: Headers = type === undefined ? {} : { 'content-type': type }
      for (const headers of foreign)
        expect(await call('POST …/sources', { ...content, ...headers }, body)).toBe(403)
      expect(await call('POST …/sources', content, body)).not.toBe(403)
    })
  })
})
