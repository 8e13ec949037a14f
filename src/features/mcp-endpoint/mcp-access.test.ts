import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { testApp } from '#test/support/build-app.ts'
import { type Gateway, startGateway } from '#test/support/gateway.ts'
import { connectMcp, textOf } from '#test/support/mcp-client.ts'

const listTools = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
const accepted = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const endpointOf = (agentId: string) => `/api/agents/${agentId}/mcp/endpoint`

/** What is sent is no JSON, so that only who is let in learns of that. */
const unreadable = { payload: '{', headers: accepted }

async function toolsOf(connection: Parameters<typeof connectMcp>[0]): Promise<string[]> {
  const client = await connectMcp(connection)
  return (await client.listTools()).tools.map(({ name }) => name)
}

describe('an agent behind a gateway', () => {
  let gateway: Gateway

  beforeAll(async () => {
    gateway = await startGateway()
  })

  afterAll(() => gateway.close())

  async function setStage() {
    const app = await testApp({ environment: gateway.environment })
    const owner = await gateway.headers('owner@example.com')
    const other = await gateway.headers('other@example.com')
    const agentId = await makeAgent(app, { headers: owner })
    return { app, owner, other, agentId, address: await app.listen() }
  }

  it('is an MCP server for its owner only, and refuses others before it reads what they send', async () => {
    const { app, owner, other, agentId, address } = await setStage()
    expect(await toolsOf({ address, agentId, headers: owner })).toContain('browse_url')
    const ask = (headers: Record<string, string>, id = agentId) =>
      app.call('POST', endpointOf(id), { ...unreadable, headers: { ...accepted, ...headers } })
    const [nobody, foreigner, forged, missing, anonymousMissing] = await Promise.all([
      ask({}),
      ask(other),
      ask({ 'edge-access-jwt-assertion': 'forged' }),
      ask(owner, 'no-such-agent'),
      ask({}, 'no-such-agent'),
    ])
    expect(nobody).toMatchObject({ status: 403, body: expect.stringMatching(/^Access denied/) })
    expect(foreigner).toMatchObject({ status: 403, body: expect.stringMatching(/^Access denied/) })
    expect(forged).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHORIZED' } } })
    expect(missing).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } })
    expect(anonymousMissing).toMatchObject({ status: 403, body: expect.stringMatching(/^Access denied/) })
    await expect(connectMcp({ address, agentId, headers: other })).rejects.toThrow('HTTP 403')
    for (const method of ['GET', 'DELETE'])
      expect((await app.call(method, endpointOf(agentId), { headers: other })).status).toBe(403)
  })

  it('is none for a viewer, who may GET only, nor for an admin once the entry is gone', async () => {
    const { app, owner, other, agentId } = await setStage()
    const statuses = async () => {
      const answers = []
      for (const method of ['POST', 'GET', 'DELETE'])
        answers.push(
          await app.call(method, endpointOf(agentId), {
            headers: { ...(method === 'POST' ? accepted : {}), ...other },
            ...(method === 'POST' ? { payload: listTools } : {}),
          }),
        )
      return answers.map(({ status }) => status)
    }
    const give = (role: 'viewer' | 'admin') =>
      giveRole(app, agentId, { email: 'other@example.com', role, headers: owner })
    const viewer = await give('viewer')
    expect(await statuses()).toEqual([403, 405, 403])
    await app.call('DELETE', viewer, { headers: owner })
    const admin = await give('admin')
    expect(await statuses()).toEqual([200, 405, 405])
    await app.call('DELETE', admin, { headers: owner })
    expect(await statuses()).toEqual([403, 403, 403])
  })

  it('keeps conversations of other agents out of reach', async () => {
    const { app, owner, agentId, address } = await setStage()
    const { body } = await app.call<{ userMessage: { conversationId: string } }>(
      'POST',
      `/api/agents/${agentId}/chat`,
      { headers: owner, body: { content: 'Hello' } },
    )
    const client = await connectMcp({ address, headers: owner })
    const { conversationId } = body.userMessage
    const result = await client.callTool({ name: 'chat', arguments: { message: 'Hello', conversationId } })
    expect([result.isError, textOf(result)]).toEqual([true, 'Conversation not found'])
  })
})

describe('the agent "default", for callers without a user', () => {
  it('offers everything with PUBLIC_ACCESS=full', async () => {
    const app = await testApp({ environment: { PUBLIC_ACCESS: 'full' } })
    expect(await toolsOf({ address: await app.listen() })).toEqual([
      'chat',
      'search_knowledge',
      'browse_url',
      'execute_sql',
    ])
  })

  it('offers to chat and to search with PUBLIC_ACCESS=chat, and knows of no other tool', async () => {
    const app = await testApp({ environment: { PUBLIC_ACCESS: 'chat' } })
    const address = await app.listen()
    const client = await connectMcp({ address })
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['chat', 'search_knowledge'])
    const chatted = await client.callTool({ name: 'chat', arguments: { message: 'Hello' } })
    expect(chatted.isError).toBeUndefined()
    const found = await client.callTool({ name: 'search_knowledge', arguments: { query: 'Hello' } })
    expect(found.structuredContent).toEqual({ results: [] })
    const forbidden = client.callTool({ name: 'browse_url', arguments: { url: 'http://example.com/' } })
    await expect(forbidden).rejects.toThrow('There is no tool named browse_url.')
  })

  it('gives nobody for free what is sold, whatever the public may do otherwise', async () => {
    const app = await testApp({ environment: { PUBLIC_ACCESS: 'full' } })
    const address = await app.listen()
    const sale = { price: '0.10', currency: 'USDC', network: 'base', description: 'An answer' }
    for (const path of ['/chat', '/sources/search'])
      await app.call('POST', '/api/agents/default/x402-resources', { body: { ...sale, path } })
    expect(await toolsOf({ address })).toEqual(['browse_url', 'execute_sql'])
    const client = await connectMcp({ address })
    const unpaid = client.callTool({ name: 'chat', arguments: { message: 'Hello' } })
    await expect(unpaid).rejects.toThrow('There is no tool named chat.')
  })

  it('offers nothing with PUBLIC_ACCESS=read', async () => {
    const app = await testApp({ environment: { PUBLIC_ACCESS: 'read' } })
    for (const [method, status] of [
      ['POST', 403],
      ['DELETE', 403],
      ['GET', 405],
    ] as const) {
      const answer = await app.call(method, endpointOf('default'), method === 'POST' ? unreadable : {})
      expect([method, answer.status]).toEqual([method, status])
    }
  })
})

it('knows no developer in what a foreign web page, or a name that points here, sends', async () => {
  const app = await testApp({ environment: { DEV_USER: 'dev@example.com', PUBLIC_ACCESS: 'chat' } })
  const mine = await makeAgent(app)
  const ask = (agentId: string, headers: Record<string, string>) =>
    app.call('POST', endpointOf(agentId), { payload: listTools, headers: { ...accepted, ...headers } })
  const foreign = [{ origin: 'https://evil.example' }, { host: 'evil.example' }]
  for (const headers of foreign) {
    expect((await ask(mine, headers)).status).toBe(403)
    expect(String((await ask('default', headers)).body)).not.toContain('browse_url')
  }
  expect((await ask(mine, { host: 'localhost:8080', origin: 'http://localhost:8080' })).status).toBe(200)
})

it('gives scripts of other origins no header beyond those that every answer has', async () => {
  const app = await testApp()
  const preflight = await app.call('OPTIONS', endpointOf('default'), {
    headers: { origin: 'https://page.example', 'access-control-request-headers': 'mcp-protocol-version' },
  })
  expect(preflight.status).toBe(204)
  expect(preflight.headers['access-control-allow-headers']).toBe('Content-Type, Authorization')
})
