/** Servers that mean harm, or are broken as if they did. */
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { fakeMcpServer, sendJson, textResult, toolNamed } from '#test/support/fake-mcp-server.ts'
import { mcpStage } from '#test/support/mcp-stage.ts'

const token = 'tok-5f3a91c7-e0'
const auth = { type: 'bearer' as const, token }
const signal = new AbortController().signal

const openStream = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' })

describe('a token', () => {
  it('goes nowhere but to the origin that was registered, and no metadata is asked for', async () => {
    const stage = await mcpStage()
    const other = await fakeMcpServer()
    for (const status of [301, 302, 303, 307, 308]) {
      const fake = await fakeMcpServer()
      fake.handle = (_request, response) =>
        response.writeHead(status, { location: other.url }).end() !== undefined
      const { status: state, error } = await stage.register({
        name: `redirects ${status}`,
        url: fake.url,
        auth,
      })
      expect({ state, error }).toEqual({ state: 'error', error: expect.stringContaining('redirects') })
    }
    const walled = await fakeMcpServer()
    walled.handle = (_request, response) =>
      response
        .writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${other.url}", scope="all"` })
        .end() !== undefined
    for (const [name, credentials] of [
      ['with', { auth }],
      ['without', {}],
    ] as const)
      expect(await stage.register({ name, url: walled.url, ...credentials })).toMatchObject({
        status: 'error',
        error: expect.stringMatching(/HTTP 401.*OAuth, which is not supported yet/),
      })
    const refusing = await fakeMcpServer()
    refusing.handle = (_request, response) =>
      response
        .writeHead(403, {
          'www-authenticate': `Bearer error="insufficient_scope", resource_metadata="${other.url}", scope="all"`,
        })
        .end() !== undefined
    expect(await stage.register({ name: 'refusing', url: refusing.url, auth })).toMatchObject({
      status: 'error',
      error: expect.stringContaining('HTTP 403'),
    })
    expect(other.seen).toEqual([])
    for (const { path } of [...walled.seen, ...refusing.seen]) expect(path).toBe('/mcp')
  })

  it('does not follow the endpoint of an event stream to another server', async () => {
    const stage = await mcpStage()
    const other = await fakeMcpServer()
    const fake = await fakeMcpServer()
    fake.handle = ({ method }, response) => {
      if (method === 'POST') response.writeHead(405).end()
      else openStream(response).write(`event: endpoint\ndata: ${other.url}\n\n`)
      return true
    }
    expect(await stage.register({ name: 'elsewhere', url: fake.url, auth })).toMatchObject({
      status: 'error',
    })
    expect(other.seen).toEqual([])
  })

  it('stays with the origin that it was given for when the row of the server names another', async () => {
    const stage = await mcpStage()
    const [fake, other] = [await fakeMcpServer(), await fakeMcpServer()]
    const { id } = await stage.register({ name: 'files', url: fake.url, auth })
    const call = () => stage.service.call(stage.agent, id, 'say', {}, signal)
    for (const changes of [{ url: other.url }, { url: 'nowhere' }, { url: fake.url, secret_set: null }]) {
      await stage.agent.db.updateTable('mcp_servers').set(changes).where('id', '=', id).execute()
      await expect(call()).rejects.toThrow('Register it again.')
      expect((await stage.tools(id)).tools).toHaveLength(1)
      expect(await stage.server(id)).toMatchObject({ status: 'error' })
    }
    expect(other.seen).toEqual([])
  })

  it('comes back in no answer, log line, error or table', async () => {
    const stage = await mcpStage({ environment: { LOG_LEVEL: 'trace' } })
    const fake = await fakeMcpServer([toolNamed('say'), toolNamed('echo', { description: `Send ${token}` })])
    const { id } = await stage.register({ name: 'echoing', url: fake.url, auth })
    const { tools, skipped } = await stage.tools(id)
    expect(skipped).toEqual([
      { name: 'echo', reason: 'its definition repeats the token that is shown to the server' },
    ])
    expect(tools).toHaveLength(1)
    fake.callTool = () => ({
      ...textResult(`your token is ${token}`),
      structuredContent: { inner: [{ [token]: token }] },
    })
    const call = () => stage.service.call(stage.agent, id, 'say', {}, signal)
    const said: unknown[] = [await call()]
    fake.callTool = () => ({ ...textResult(`bad token ${token}`), isError: true })
    said.push(await call().catch(error => String(error)))
    fake.handle = (_request, response, message) => {
      if (message?.method !== 'tools/call') return false
      sendJson(response, { jsonrpc: '2.0', id: message.id, error: { code: -1, message: `no ${token}` } })
      return true
    }
    said.push(await call().catch(error => String(error)))
    fake.handle = (_request, response) => response.writeHead(500, token).end(token) !== undefined
    said.push(await call().catch(error => String(error)), await stage.tools(id), await stage.server(id))
    expect(JSON.stringify(said)).toContain('[redacted]')
    const tables = await Promise.all(
      (['mcp_servers', 'mcp_tools'] as const).map(table =>
        stage.agent.db.selectFrom(table).selectAll().execute(),
      ),
    )
    const secrets = await stage.app.service.infrastructure.platform
      .selectFrom('agent_secrets')
      .selectAll()
      .execute()
    expect(secrets).toHaveLength(2)
    for (const output of [said, tables, secrets, stage.logged()])
      expect(JSON.stringify(output)).not.toContain(token)
  })
})

/** Letters that nobody sees, and models read. */
const tags = (text: string) =>
  String.fromCodePoint(...[...text].map(letter => 0xe0000 + letter.charCodeAt(0)))

describe('the list of a server', () => {
  it('leaves out, with a reason, what cannot be used', async () => {
    const stage = await mcpStage()
    const deep = (depth: number): object => (depth === 0 ? {} : { properties: { a: deep(depth - 1) } })
    const fake = await fakeMcpServer([
      toolNamed('say'),
      toolNamed('say', { description: 'another' }),
      toolNamed('__proto__'),
      toolNamed('constructor'),
      toolNamed('two\nlines'),
      toolNamed('hid\u200bden'),
      toolNamed('fill\u3164ed'),
      toolNamed('choice', {
        inputSchema: { type: 'object', properties: { a: { enum: [`b${tags('obey')}`] } } },
      }),
      toolNamed('property', { inputSchema: { type: 'object', properties: { [`a${tags('obey')}`]: {} } } }),
      toolNamed('x'.repeat(129)),
      toolNamed(''),
      toolNamed('list', { inputSchema: [] }),
      toolNamed('text', { inputSchema: { type: 'string' } }),
      toolNamed('none', { inputSchema: undefined }),
      toolNamed('odd', { inputSchema: { type: 'object', properties: 7 } }),
      toolNamed('deep', { inputSchema: deep(100) }),
      toolNamed('large', { inputSchema: { type: 'object', title: 'x'.repeat(70_000) } }),
      toolNamed('long', { description: `a\u0000b\u202e\u{e0101}\ufe01\u115f${'x'.repeat(5000)}` }),
      toolNamed('recursive', {
        inputSchema: { type: 'object', properties: { __proto__: { $ref: '#' }, a: { $ref: '#' } } },
      }),
      null,
      'say',
    ])
    const { id } = await stage.register({ name: 'odd', url: fake.url })
    const { tools, skipped } = await stage.tools(id)
    expect(tools.map(({ name }) => name)).toEqual([
      'say',
      '__proto__',
      'constructor',
      'none',
      'long',
      'recursive',
    ])
    expect(tools[4]?.description).toHaveLength(4096)
    expect(tools[4]?.description.startsWith('abxxx')).toBe(true)
    expect(skipped.map(({ name }) => name)).toEqual([
      'say',
      'two\nlines',
      'hidden',
      'filled',
      'choice',
      'property',
      'x'.repeat(128),
      '',
      'list',
      'text',
      'odd',
      'deep',
      'large',
      '',
      '',
    ])
    expect(stage.logged().some(line => line.includes('were left out'))).toBe(true)
    const offered = await stage.service.tools(stage.agent)
    for (const tool of offered) expect(await tool.check({ __proto__: null })).toBeUndefined()
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
      expect(await stage.service.find(stage.agent, id, name)).toHaveProperty(
        name === '__proto__' || name === 'constructor' ? 'tool' : 'problem',
      )
  })

  it('is bounded, however many tools and pages there are', async () => {
    const stage = await mcpStage()
    const all = Array.from({ length: 10_000 }, (_, index) => toolNamed(`tool-${index}`))
    const fake = await fakeMcpServer(all)
    expect(await stage.register({ name: 'all at once', url: fake.url })).toMatchObject({
      status: 'error',
      error: expect.stringContaining('larger than an MCP server may send'),
    })
    fake.handle = (_request, response, message) => {
      if (message?.method !== 'tools/list') return false
      const start = Number(message.params.cursor ?? 0)
      const result = { tools: all.slice(start, start + 300), nextCursor: String(start + 300) }
      sendJson(response, { jsonrpc: '2.0', id: message.id, result })
      return true
    }
    const { id } = await stage.register({ name: 'many', url: fake.url })
    const { tools, skipped, meta } = await stage.tools(id, '?limit=1000')
    expect({ listed: tools.length, total: meta.total }).toEqual({ listed: 1000, total: 1000 })
    expect(skipped).toEqual([{ name: '', reason: expect.stringContaining('more than 1000 tools') }])
    expect(await stage.service.tools(stage.agent)).toHaveLength(1000)
    const pageWith = (nextCursor: (page: number) => string) => {
      let pages = 0
      fake.handle = (_request, response, message) => {
        if (message?.method !== 'tools/list') return false
        pages += 1
        const result = { tools: [toolNamed(`page-${pages}`)], nextCursor: nextCursor(pages) }
        sendJson(response, { jsonrpc: '2.0', id: message.id, result })
        return true
      }
      return () => pages
    }
    const same = pageWith(() => 'again')
    expect((await stage.tools(id)).meta.total).toBe(2)
    expect(same()).toBe(2)
    const endless = pageWith(page => `page ${page}`)
    expect((await stage.tools(id)).meta.total).toBe(50)
    expect(endless()).toBe(50)
    // Of 1000 tools that nobody will see again nothing is left that was not agreed to.
    const rows = await stage.agent.db.selectFrom('mcp_tools').select('approved_hash').execute()
    expect(rows.filter(row => row.approved_hash === null)).toHaveLength(50)
  })

  it('is refused where it is garbage, and what was known stays', async () => {
    const stage = await mcpStage()
    const fake = await fakeMcpServer()
    const { id } = await stage.register({ name: 'odd', url: fake.url })
    const answers: ((response: ServerResponse, id: unknown) => void)[] = [
      response => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      response => response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":'),
      response => sendJson(response, { hello: 'world' }),
      (response, request) => sendJson(response, { jsonrpc: '2.0', id: request, result: { tools: 7 } }),
      (response, request) => sendJson(response, { jsonrpc: '2.0', id: request, result: null }),
      response => response.destroy(),
      response => openStream(response).end(),
      (response, request) =>
        sendJson(response, { jsonrpc: '2.0', id: request, result: { tools: [], x: 'x'.repeat(3_000_000) } }),
      (response, request) =>
        sendJson(response, { jsonrpc: '2.0', id: request, error: { code: -1, message: 'secret words' } }),
    ]
    for (const answer of answers) {
      fake.handle = (_request, response, message) => {
        if (message?.method !== 'tools/list') return false
        answer(response, message.id)
        return true
      }
      expect((await stage.tools(id)).tools).toMatchObject([{ name: 'say', status: 'approved' }])
      const { status, error } = await stage.server(id)
      expect(['error', 'disconnected']).toContain(status)
      expect(error).not.toContain('secret words')
    }
    fake.handle = () => false
    await stage.tools(id)
    expect(await stage.server(id)).toMatchObject({ status: 'connected' })
  })
})

describe('a server that', () => {
  it('never answers holds nothing but its own registration', async () => {
    const stage = await mcpStage({ limits: { connectMs: 300 } })
    const fake = await fakeMcpServer()
    fake.handle = () => true
    const server = await stage.service.register(stage.agent, { name: 'silent', url: fake.url })
    expect(server).toMatchObject({ status: 'disconnected', error: 'It did not answer in time.' })
    fake.handle = ({ method }, response) => {
      if (method === 'POST') response.writeHead(404).end()
      else openStream(response).write(': nothing\n\n')
      return true
    }
    const old = await stage.service.register(stage.agent, { name: 'silent stream', url: fake.url })
    expect(old).toMatchObject({ status: 'disconnected', error: 'It did not answer in time.' })
  })

  it('is no MCP server is told as one', async () => {
    const stage = await mcpStage()
    const fake = await fakeMcpServer()
    for (const [status, reason] of [
      [404, 'There is no MCP endpoint at this address (HTTP 404).'],
      [405, 'There is no MCP endpoint at this address (HTTP 405).'],
      [500, 'It failed (HTTP 500).'],
    ] as const) {
      fake.handle = (_request, response) => response.writeHead(status).end('x') !== undefined
      const server = await stage.register({ name: `answers ${status}`, url: fake.url })
      expect(server).toMatchObject({ status: 'error', error: reason })
    }
    fake.handle = (_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>') !== undefined
    expect(await stage.register({ name: 'a page', url: fake.url })).toMatchObject({
      status: 'error',
      error: 'It does not speak MCP as expected: register the address of its MCP endpoint.',
    })
  })

  it('opens its event stream again and again is not followed for ever', async () => {
    const stage = await mcpStage()
    const fake = await fakeMcpServer()
    fake.handle = ({ method }, response, message) => {
      if (method === 'GET') openStream(response).end('retry: 0\n\n')
      else if (message?.method === 'initialize') response.setHeader('mcp-session-id', 'one')
      return method === 'GET'
    }
    const { id } = await stage.service.register(stage.agent, { name: 'restless', url: fake.url })
    for (let n = 0; n < 5; n += 1) await stage.service.call(stage.agent, id, 'say', {}, signal)
    expect(fake.seen.filter(({ method }) => method === 'GET').length).toBeLessThan(6)
  })
})
