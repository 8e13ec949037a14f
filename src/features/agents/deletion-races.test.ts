/** What is asked of an agent while it is being deleted. */
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { seededRandom } from '#test/support/random.ts'

let app: TestApp

beforeAll(async () => {
  app = await buildApp({ environment: { DEV_USER: 'olga@example.com', OUTBOUND_ALLOW: '127.0.0.1' } })
})

afterAll(() => app.close())

interface Write {
  method: string
  /** After that of the agent. */
  path: string
  body?: string
  type?: string
}

/** Where nobody listens. */
const url = 'http://127.0.0.1:65000/'
const headers = { authorization: 'Bearer secret' }
const code = 'return 1'
const file =
  '--edge\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nText.\r\n--edge--\r\n'

function post(path: string, body: object): Write {
  return { method: 'POST', path, body: JSON.stringify(body) }
}

function put(path: string, body: object): Write {
  return { ...post(path, body), method: 'PUT' }
}

function mcp(method: string, params: object = {}): Write {
  return post('/mcp/endpoint', { jsonrpc: '2.0', id: 1, method, params })
}

/** Of every kind, in the agent's own database and in that of the platform. */
const writes: Write[] = [
  put('', { description: 'new' }),
  put('', { name: 'renamed' }),
  put('/settings', { openai_api_key: 'sk-1' }),
  post('/admins', { email: 'paul@example.com', role: 'viewer' }),
  post('/chat', { content: 'Hello' }),
  post('/chat/conversations', { title: 'new' }),
  { method: 'POST', path: '/sources', body: file, type: 'multipart/form-data; boundary=edge' },
  post('/sources', { type: 'database', name: 'one', query: 'SELECT 1 AS one' }),
  post('/sources', { type: 'api', name: 'far', url, headers }),
  post('/sources/crawl', { name: 'page', url }),
  post('/sources/search', { query: 'text' }),
  post('/tools', { name: 'now', type: 'javascript', description: 'Now', configuration: { code } }),
  post('/tools', {
    name: 'far',
    type: 'http',
    description: 'Far',
    configuration: { url, method: 'GET', headers: JSON.stringify(headers) },
  }),
  post('/mcp', { name: 'far', url, authType: 'bearer', token: 'secret' }),
  post('/sql/execute', { query: "UPDATE conversations SET title = 'x'" }),
  mcp('tools/list'),
  mcp('tools/call', { name: 'chat', arguments: { message: 'Hello' } }),
]

const rounds = 24

it('is done or answered with 404, and never said to have failed', async () => {
  const { next } = seededRandom(7)
  const below = (limit: number) => Math.floor(next() * limit)
  const address = await app.listen()
  const untrue = new Map<string, string>()
  async function send({ method, path, body, type = 'application/json' }: Write): Promise<void> {
    const headers = { accept: 'application/json, text/event-stream', ...(body && { 'content-type': type }) }
    const response = await fetch(address + path, { method, headers, body: body ?? null })
    const text = await response.text()
    if ((response.status >= 300 && response.status !== 404) || text.includes('went wrong'))
      untrue.set(`${method} ${path} ${response.status}`, text)
  }

  for (let round = 0; round < rounds; round += 1) {
    const path = `/api/agents/${await makeAgent(app)}`
    const begun: Promise<void>[] = []
    const inOrder = writes.map(write => ({ ...write, path: path + write.path, at: next() }))
    const deletion = { method: 'DELETE', path, at: next() }
    for (const write of [...inOrder, deletion].toSorted((one, other) => one.at - other.at)) {
      begun.push(send(write))
      for (let turns = below(round); turns > 0; turns -= 1) await turn()
    }
    await Promise.all(begun)
  }
  expect(Object.fromEntries(untrue)).toEqual({})
})
