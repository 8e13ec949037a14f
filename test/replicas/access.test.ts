/** Answers by one process whose reader loses the right to them through another one. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { giveRole, makeAgent } from '../support/agents.ts'
import { type ChatModel, heldStream, startChatModel } from '../support/chat-model.ts'
import { followChanges } from '../support/follow-changes.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { openStream } from '../support/open-stream.ts'
import { type ReplicaSet, startReplicas } from '../support/replica-set.ts'

let gateway: Gateway
let model: ChatModel
let replicas: ReplicaSet

beforeAll(async () => {
  gateway = await startGateway()
  model = await startChatModel()
  replicas = await startReplicas(2, { ...gateway.environment, ...model.environment })
})

afterAll(async () => {
  await replicas[Symbol.asyncDispose]()
  await model[Symbol.asyncDispose]()
  await gateway.close()
})

const pathOf = {
  agent: (agentPath: string) => agentPath,
  entry: (_agentPath: string, entryPath: string) => entryPath,
}

it.each([
  ['the role is taken away', { code: 'FORBIDDEN' }, 'DELETE', pathOf.entry, undefined],
  ['the agent is disabled', { code: 'CONFLICT' }, 'PUT', pathOf.agent, { status: 'disabled' }],
  ['the agent is deleted', { code: 'NOT_FOUND' }, 'DELETE', pathOf.agent, undefined],
])('an answer ends soon after %s by another process', async (_what, error, method, path, body) => {
  const owner = await gateway.headers('owner@example.com')
  const guest = await gateway.headers('guest@example.com')
  const id = await makeAgent(replicas.at(1), { headers: owner })
  const agent = `/api/agents/${id}`
  const guestEntry = { email: 'guest@example.com', role: 'admin', headers: owner } as const
  const entry = await giveRole(replicas.at(1), id, guestEntry)
  const held = heldStream(['One'], [' two'])
  onTestFinished(held.open)
  model.next(held.reply)
  const answer = await openStream(`${replicas.at(0).url}${agent}/chat`, { content: 'Count' }, guest)
  await answer.until('content_delta')
  const call = { headers: owner, ...(body && { body }) }
  expect((await replicas.at(1).call(method, path(agent, entry), call)).status).toBe(200)
  expect(await answer.rest()).toMatchObject([{ type: 'error', ...error }])
})

it('changes by another process are sent, and end soon after the role is taken away there', async () => {
  const owner = await gateway.headers('owner@example.com')
  const guest = await gateway.headers('guest@example.com')
  const agentId = await makeAgent(replicas.at(1), { headers: owner })
  const viewer = { email: 'guest@example.com', role: 'viewer', headers: owner } as const
  const entry = await giveRole(replicas.at(1), agentId, viewer)
  const followed = await followChanges({ base: replicas.at(0).url, agentId, headers: guest })
  await followed.received({ type: 'open' })
  const contacts = `/api/agents/${agentId}/contacts`
  for (const index of [1, 0, 1]) {
    const call = { headers: owner, body: { name: `Of ${index}` } }
    const { body } = await replicas.at(index).call<{ id: string }>('POST', contacts, call)
    await followed.received({ type: 'contacts', id: body.id })
  }
  const settings = { headers: owner, body: { llm_temperature: 0.3 } }
  await replicas.at(1).call('PUT', `/api/agents/${agentId}/settings`, settings)
  await followed.received({ type: 'settings', id: agentId })
  const elsewhere = { base: replicas.at(1).url, agentId, headers: guest, after: followed.lastId() }
  const resumed = await followChanges(elsewhere)
  await resumed.received({ type: 'reset' })
  await replicas.at(1).call('DELETE', entry, { headers: owner })
  await Promise.all([followed.ended, resumed.ended])
  expect((await followChanges(elsewhere)).status).toBe(403)
})
