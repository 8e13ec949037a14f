import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { testApp } from '#test/support/build-app.ts'
import { heldStream } from '#test/support/chat-model.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { startGateway } from '#test/support/gateway.ts'
import { connectMcp } from '#test/support/mcp-client.ts'
import { storedFiles } from '#test/support/stored-files.ts'

async function say(client: Client, message: string, more: object = {}) {
  const result = await client.callTool({ name: 'chat', arguments: { message, ...more } })
  expect(result.isError ?? false, JSON.stringify(result.content)).toBe(false)
  return (result.structuredContent as { conversationId: string }).conversationId
}

let stage: ChatStage
let address: string
let agentId: string
let chat: string

beforeAll(async () => {
  stage = await setChatStage()
  address = await stage.app.listen()
})

afterAll(() => stage[Symbol.asyncDispose]())

beforeEach(async () => {
  chat = await stage.makeChat()
  agentId = chat.split('/')[3] ?? ''
})

async function conversations(): Promise<{ id: string; title: string; messageCount: number }[]> {
  const { body } = await stage.app.call<{ conversations: [] }>('GET', `${chat}/conversations?limit=1000`)
  return body.conversations
}

describe.each([true, false])('chats through MCP (older protocol: %s)', isOld => {
  it('evict no conversation of a person, however many there are, at once or one after the other', async () => {
    for (let n = 0; n < 49; n += 1)
      await stage.app.call('POST', `${chat}/conversations`, { body: { title: `Mine ${n}` } })
    const client = await connectMcp({ address, agentId, isOld })
    const first = await say(client, 'First')
    const many = Array.from({ length: 50 }, (_, n) => say(client, `Question ${n}`))
    expect(new Set(await Promise.all(many))).toEqual(new Set([first]))
    const kept = await conversations()
    expect(kept.filter(({ title }) => title.startsWith('Mine'))).toHaveLength(49)
    expect(kept.find(({ id }) => id === first)).toMatchObject({ title: 'First', messageCount: 102 })
  })

  it('remember what was said, and can go on with any other conversation', async () => {
    const client = await connectMcp({ address, agentId, isOld })
    const own = await say(client, 'My name is Ada.')
    const { body } = await stage.send(chat, { content: 'Another one' })
    const other = body.userMessage.conversationId
    expect(await say(client, 'There', { conversationId: other })).toBe(other)
    expect(await say(client, 'What is my name?')).toBe(own)
    const said = stage.model
      .questions()
      .at(-1)
      ?.messages.map(({ content }) => content)
    expect(JSON.stringify(said)).toContain('My name is Ada.')
    expect(JSON.stringify(said)).not.toContain('There')
  })

  it('take files with the message, and keep none of one that is refused', async () => {
    const client = await connectMcp({ address, agentId, isOld })
    const data = (text: string) => Buffer.from(text).toString('base64')
    const tides = { name: 'tides.txt', data: data('High tide is at noon.') }
    const id = await say(client, 'When is high tide?', { files: [tides] })
    expect(JSON.stringify(stage.model.questions().at(-1))).toContain('High tide is at noon.')
    const [question] = await stage.messages(chat, id)
    expect(question?.metadata?.attachments).toMatchObject([{ name: 'tides.txt', kind: 'document' }])
    const before = await storedFiles(stage.app, agentId)
    const bitmap = { name: 'b.bmp', data: data('BM'.padEnd(60, '\0')) }
    const plain = { name: 'plain.txt', data: 'High tide is at noon (not in base64).' }
    for (const files of [[tides, bitmap], [tides, plain], Array.from({ length: 11 }, () => tides)]) {
      const refused = await client.callTool({ name: 'chat', arguments: { message: 'Hi', files } })
      expect(refused.isError).toBe(true)
    }
    expect(await storedFiles(stage.app, agentId)).toEqual(before)
  })

  it('begin anew when somebody has deleted the conversation', async () => {
    const client = await connectMcp({ address, agentId, isOld })
    const id = await say(client, 'Hello')
    await stage.app.call('DELETE', `${chat}/conversations/${id}`)
    await say(client, 'Hello again')
    expect(await conversations()).toMatchObject([{ title: 'Hello again', messageCount: 2 }])
  })
})

it('each session of the older protocol has a conversation of its own', async () => {
  const [one, other] = await Promise.all([1, 2].map(() => connectMcp({ address, agentId, isOld: true })))
  if (one === undefined || other === undefined) throw new Error('Both are connected.')
  const ids = [await say(one, 'Hello'), await say(other, 'Hello'), await say(one, 'Hello')]
  expect([ids[0] === ids[2], ids[0] === ids[1]]).toEqual([true, false])
})

it('clients without sessions share one, whenever they connect', async () => {
  const ids = []
  for (let n = 0; n < 3; n += 1) ids.push(await say(await connectMcp({ address, agentId }), 'Hello'))
  expect(new Set(ids).size).toBe(1)
})

it('a client that goes away while it waits its turn asks nothing', async () => {
  const client = await connectMcp({ address, agentId })
  const held = heldStream(['Well,'])
  stage.model.next(held.reply)
  const running = say(client, 'Take your time.')
  await held.begun
  const gone = new AbortController()
  const waiting = client.callTool(
    { name: 'chat', arguments: { message: 'Never asked' } },
    { signal: gone.signal },
  )
  gone.abort()
  await expect(waiting).rejects.toThrow()
  held.open()
  const id = await running
  await say(client, 'And now?')
  const said = (await stage.messages(chat, id)).filter(({ role }) => role === 'user')
  expect(said.map(({ content }) => content)).toEqual(['Take your time.', 'And now?'])
})

it('the name of a session opens nobody else’s conversation', async () => {
  const gateway = await startGateway()
  onTestFinished(() => gateway.close())
  const app = await testApp({ environment: gateway.environment })
  const [owner, other] = await Promise.all(
    ['owner', 'other'].map(name => gateway.headers(`${name}@example.com`)),
  )
  const shared = await makeAgent(app, { headers: owner ?? {} })
  await giveRole(app, shared, { email: 'other@example.com', role: 'admin', headers: owner ?? {} })
  const url = await app.listen()
  const session = { 'mcp-session-id': 'known-to-both' }
  const ids = []
  for (const headers of [owner, other])
    ids.push(
      await say(
        await connectMcp({ address: url, agentId: shared, headers: { ...headers, ...session } }),
        'Hi',
      ),
    )
  expect(new Set(ids).size).toBe(2)
})

describe('other addresses', () => {
  const accepted = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const payload = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })

  it('with /mcp at the end are the same endpoint', async () => {
    const path = `/api/agents/${agentId}/mcp/endpoint/mcp`
    const { status, body } = await stage.app.call('POST', path, { payload, headers: accepted })
    expect([status, String(body)]).toEqual([200, expect.stringContaining('search_knowledge')])
    for (const method of ['GET', 'DELETE']) expect((await stage.app.call(method, path)).status).toBe(405)
  })

  it.each(['GET', 'POST'])('with /sse at the end say which one to use, by %s', async method => {
    const endpoint = `/api/agents/${agentId}/mcp/endpoint`
    const options = method === 'GET' ? {} : { payload, headers: accepted }
    const { status, body } = await stage.app.call(method, `${endpoint}/sse`, options)
    expect(status).toBe(405)
    expect(body).toMatchObject({
      jsonrpc: '2.0',
      error: { message: expect.stringContaining(`${endpoint} (transport Streamable HTTP`) },
      id: null,
    })
  })
})
