/** Answers by one process whose reader loses the right to them through another one. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { ChatModel } from '../support/chat-model.ts'
import { heldStream, startChatModel } from '../support/chat-model.ts'
import type { Gateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { openStream } from '../support/open-stream.ts'
import type { ReplicaSet } from '../support/replica-set.ts'
import { startReplicas } from '../support/replica-set.ts'

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

type PathOf = (agent: string, entryId: string) => string

const ofTheAgent: PathOf = agent => agent
const ofTheEntry: PathOf = (agent, entryId) => `${agent}/admins/${entryId}`

it.each([
  ['role-taken-away', { code: 'FORBIDDEN' }, 'DELETE', ofTheEntry, undefined],
  ['agent-disabled', { code: 'CONFLICT' }, 'PUT', ofTheAgent, { status: 'disabled' }],
  ['agent-deleted', { code: 'NOT_FOUND' }, 'DELETE', ofTheAgent, undefined],
])(
  'an answer ends soon after another process has done this: %s',
  async (name, error, method, pathOf, body) => {
    const owner = await gateway.headers('owner@example.com')
    const guest = await gateway.headers('guest@example.com')
    const create = (path: string, fields: object) =>
      replicas.at(1).call<{ id: string }>('POST', path, { headers: owner, body: fields })
    const { id } = (await create('/api/agents', { name })).body
    const agent = `/api/agents/${id}`
    const entry = await create(`${agent}/admins`, { email: 'guest@example.com', role: 'admin' })
    const held = heldStream(['One'], [' two'])
    onTestFinished(held.open)
    model.next(held.reply)
    const answer = await openStream(`${replicas.at(0).url}${agent}/chat`, { content: 'Count' }, guest)
    await answer.until('content_delta')
    const call = { headers: owner, ...(body && { body }) }
    expect((await replicas.at(1).call(method, pathOf(agent, entry.body.id), call)).status).toBe(200)
    expect(await answer.rest()).toMatchObject([{ type: 'error', ...error }])
  },
)
