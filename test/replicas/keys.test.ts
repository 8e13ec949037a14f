/** Keys that are revoked through one process while others serve them. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { makeAgent } from '../support/agents.ts'
import { type ChatModel, heldStream, startChatModel } from '../support/chat-model.ts'
import { isFullEndurance, scaled } from '../support/endurance.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { openStream } from '../support/open-stream.ts'
import { type ReplicaSet, startReplicas } from '../support/replica-set.ts'

type Headers = Record<string, string>

let gateway: Gateway
let model: ChatModel
let replicas: ReplicaSet
let owner: Headers
let agent: string

beforeAll(async () => {
  gateway = await startGateway()
  model = await startChatModel()
  replicas = await startReplicas(3, { ...gateway.environment, ...model.environment })
  owner = await gateway.headers('owner@example.com')
  agent = `/api/agents/${await makeAgent(replicas.at(0), { headers: owner })}`
})

afterAll(async () => {
  await replicas[Symbol.asyncDispose]()
  await model[Symbol.asyncDispose]()
  await gateway.close()
})

async function makeKey(path = `${agent}/keys`, role = 'admin') {
  const body = { name: 'CI', role }
  const made = await replicas.any().call<{ id: string; key: string }>('POST', path, { headers: owner, body })
  expect(made.status).toBe(201)
  return {
    headers: { authorization: `Bearer ${made.body.key}` },
    revoke: () => replicas.at(0).call('DELETE', `${path}/${made.body.id}`, { headers: owner }),
  }
}

it('a revoked key is refused by every process with its next request', async () => {
  for (let round = 0; round < scaled(1000); round += 1) {
    const { headers, revoke } = await makeKey(round % 2 === 0 ? undefined : '/api/auth/keys')
    const statuses = () =>
      Promise.all([0, 1, 2].map(async at => (await replicas.at(at).call('GET', agent, { headers })).status))
    expect(await statuses()).toEqual([200, 200, 200])
    await revoke()
    expect(await statuses()).toEqual([401, 401, 401])
  }
})

it.each([
  ['of the agent', () => `${agent}/keys`],
  ['of a person', () => '/api/auth/keys'],
])('streams and MCP calls with a key %s end within five seconds of its end', async (_whose, pathOf) => {
  const { headers, revoke } = await makeKey(pathOf())
  const [stream, call] = [heldStream(['One']), heldStream(['One'])]
  onTestFinished(stream.open)
  onTestFinished(call.open)
  model.next(stream.reply)
  const answer = await openStream(`${replicas.at(1).url}${agent}/chat`, { content: 'Count' }, headers)
  await answer.until('content_delta')
  model.next(call.reply)
  const called = replicas.at(2).call('POST', `${agent}/mcp/endpoint`, {
    headers: { ...headers, accept: 'application/json, text/event-stream' },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'chat', arguments: { message: 'Count' } },
    },
  })
  await call.begun
  expect((await revoke()).status).toBe(200)
  const revoked = performance.now()
  expect(await answer.rest()).toMatchObject([{ type: 'error', code: 'UNAUTHORIZED' }])
  expect(JSON.stringify((await called).body)).not.toContain('result')
  // Without other tests beside it: a busy machine takes its own time.
  if (isFullEndurance) expect(performance.now() - revoked).toBeLessThan(5_000)
})
