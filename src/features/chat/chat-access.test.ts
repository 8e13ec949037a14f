/** Answers of callers whose role on the agent is taken away while they read, or whose agent is disabled. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { type ChatModel, heldStream, startChatModel } from '#test/support/chat-model.ts'
import { type Gateway, startGateway } from '#test/support/gateway.ts'
import { openStream } from '#test/support/open-stream.ts'

type Headers = Record<string, string>

let gateway: Gateway
let model: ChatModel
let app: TestApp
let url: string
let owner: Headers
let guest: Headers

beforeAll(async () => {
  gateway = await startGateway()
  model = await startChatModel()
  app = await buildApp({ environment: { ...gateway.environment, ...model.environment } })
  url = await app.listen()
  owner = await gateway.headers('owner@example.com')
  guest = await gateway.headers('guest@example.com')
})

afterAll(async () => {
  await app.close()
  await model[Symbol.asyncDispose]()
  await gateway.close()
})

/** An agent of the owner's, on which the guest is an admin and reads an answer that is under way. */
async function setStage() {
  const call = <Body>(method: string, path: string, headers: Headers, body?: object) =>
    app.call<Body>(method, path, { headers, ...(body && { body }) })
  const id = await makeAgent(app, { headers: owner })
  const give = (email: string) => giveRole(app, id, { email, role: 'admin', headers: owner })
  const [entry, another] = [await give('guest@example.com'), await give('another@example.com')]
  const chat = `/api/agents/${id}/chat`
  const held = heldStream(['One'], [' two'])
  // So that the model server is not kept busy by a test that failed.
  onTestFinished(held.open)
  model.next(held.reply)
  const remove = (entryPath: string) => call('DELETE', entryPath, owner)
  return { agentId: id, chat, held, entry, another, remove, call }
}

const takenAway = { message: 'Access denied: your role on this agent was taken away.', code: 'FORBIDDEN' }

describe('an answer whose reader loses the role on the agent', () => {
  it('ends at once, is kept as far as it came, and frees the conversation', async () => {
    const { chat, held, entry, remove, call } = await setStage()
    const answer = await openStream(`${url}${chat}`, { content: 'Count' }, guest)
    await answer.until('content_delta')
    expect((await remove(entry)).status).toBe(200)
    expect(await answer.rest()).toEqual([{ type: 'error', ...takenAway }])
    await held.ended
    const { messages } = (
      await call<{ messages: { content: string; conversationId: string }[] }>('GET', chat, owner)
    ).body
    expect(messages).toMatchObject([
      { role: 'user', content: 'Count' },
      { role: 'assistant', content: 'One', metadata: { aborted: true, error: takenAway.message } },
    ])
    const next = { content: 'Go on', conversationId: messages[0]?.conversationId }
    expect((await call('POST', chat, owner, next)).status).toBe(200)
  })

  it('ends also where it is not streamed', async () => {
    const { chat, held, entry, remove, call } = await setStage()
    const answer = call('POST', chat, guest, { content: 'Count' })
    await held.begun
    await remove(entry)
    expect(await answer).toMatchObject({
      status: 403,
      body: { error: takenAway.message, code: takenAway.code },
    })
  })

  it('goes on while others lose theirs', async () => {
    const { chat, held, another, remove } = await setStage()
    const answer = await openStream(`${url}${chat}`, { content: 'Count' }, guest)
    await answer.until('content_delta')
    await remove(another)
    held.open()
    expect((await answer.rest()).map(({ type }) => type)).toEqual(['content_delta', 'message_complete'])
  })
})

describe('an answer whose agent is', () => {
  const disabled = { type: 'error', message: 'This agent was disabled.', code: 'CONFLICT' }

  it('disabled ends at once, whoever reads it', async () => {
    const { agentId, chat, call } = await setStage()
    const answer = await openStream(`${url}${chat}`, { content: 'Count' }, owner)
    await answer.until('content_delta')
    await call('PUT', `/api/agents/${agentId}`, owner, { status: 'disabled' })
    expect(await answer.rest()).toEqual([disabled])
  })

  it('paused ends as it would have', async () => {
    const { agentId, chat, held, call } = await setStage()
    const answer = await openStream(`${url}${chat}`, { content: 'Count' }, owner)
    await answer.until('content_delta')
    await call('PUT', `/api/agents/${agentId}`, owner, { status: 'paused' })
    held.open()
    expect((await answer.rest()).map(({ type }) => type)).toEqual(['content_delta', 'message_complete'])
  })
})
