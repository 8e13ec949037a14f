import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { type FollowOptions, followChanges } from '#test/support/follow-changes.ts'
import { uploadAndProcess } from '#test/support/upload.ts'
import { workflowCalls } from '#test/support/workflows.ts'

let app: TestApp
let url: string

beforeAll(async () => {
  app = await buildApp({ environment: { DEV_USER: 'ada@example.com' } })
  url = await app.listen()
})

afterAll(() => app.close())

const follow = (agentId: string, options: FollowOptions = {}) =>
  followChanges({ base: url, agentId, ...options })

describe('the changes of an agent', () => {
  it('are sent by resource and id, once the change can be read', async () => {
    const agentId = await makeAgent(app)
    const path = `/api/agents/${agentId}`
    await using followed = Object.assign(await follow(agentId), {
      async [Symbol.asyncDispose]() {
        followed.close()
      },
    })
    await followed.received({ type: 'open', at: expect.any(String) })
    expect(followed.contentType).toBe('text/event-stream; charset=utf-8')

    const { body: contact } = await app.call<{ id: string }>('POST', `${path}/contacts`, {
      body: { name: 'Ada' },
    })
    await followed.received({ type: 'contacts', id: contact.id })
    const workflows = workflowCalls(app, path)
    const workflow = await workflows.create({ start: { type: 'trigger' } }, [])
    await followed.received({ type: 'workflows', id: workflow })
    const run = await workflows.run(workflow)
    await followed.received({ type: 'executions', id: run.id })
    const source = await uploadAndProcess(app, { name: 'a.txt', content: 'Herring', agentId })
    await followed.received({ type: 'sources', id: source })
    const answer = await app.call<{ userMessage: { conversationId: string } }>('POST', `${path}/chat`, {
      body: { content: 'Herring?', model: 'builtin' },
    })
    const { conversationId } = answer.body.userMessage
    await followed.received({ type: 'messages', id: conversationId })
    await followed.received({ type: 'conversations', id: conversationId })
    await app.call('PUT', `${path}/settings`, { body: { llm_temperature: 0.5 } })
    await followed.received({ type: 'settings', id: agentId })
    await app.call('PUT', `${path}/contacts/${contact.id}`, { body: { name: 'Ada L.' } })
    await app.call('DELETE', `${path}/contacts/${contact.id}`)
    await eventually(async () => {
      const last = followed.events().findLastIndex(({ id }) => id === contact.id)
      expect(last).toBeGreaterThan(followed.events().findIndex(({ type }) => type === 'settings'))
    })
    const refused = await app.call('POST', `${path}/contacts`, { body: { name: '' } })
    expect(refused.status).toBe(400)
    expect(followed.events().filter(({ type }) => type === 'reset')).toEqual([])
  })

  it('of others are not sent, and those of a client that was away are', async () => {
    const [agentId, other] = [await makeAgent(app), await makeAgent(app)]
    const add = async (to: string, name: string) =>
      (await app.call<{ id: string }>('POST', `/api/agents/${to}/contacts`, { body: { name } })).body.id
    const first = await follow(agentId)
    const foreign = await add(other, 'Foreign')
    const seen = await add(agentId, 'Seen')
    await first.received({ type: 'contacts', id: seen })
    expect(first.events().map(({ id }) => id)).not.toContain(foreign)
    const after = first.lastId()
    first.close()
    await first.ended
    const missed = await add(agentId, 'Missed')
    const second = await follow(agentId, { after })
    await second.received({ id: missed })
    expect(second.events().map(({ type, id }) => [type, id])).toEqual([['contacts', missed]])
    second.close()
    for (const unknown of ['elsewhere.7', 'nonsense', `${after}9999`]) {
      const reset = await follow(agentId, { after: unknown })
      await reset.received({ type: 'reset' })
      reset.close()
    }
  })

  it('end with the role, the agent and the service', async () => {
    const environment = { DEV_USER: 'ada@example.com' }
    const own = await testApp({ environment })
    const base = await own.listen()
    const [agentId, kept] = [await makeAgent(own), await makeAgent(own)]
    const followed = await follow(agentId, { base })
    const until = await follow(kept, { base })
    await followed.received({ type: 'open' })
    expect((await own.call('DELETE', `/api/agents/${agentId}`)).status).toBe(200)
    await followed.ended
    expect((await fetch(`${base}/api/agents/none/events`)).status).toBe(404)
    await until.received({ type: 'open' })
    await own.service.close()
    await until.ended
  })

  it('are kept from callers without a role', async () => {
    const agentId = await makeAgent(app)
    const { status } = await fetch(`${url}/api/agents/${agentId}/events`, {
      headers: { origin: 'https://elsewhere.example' },
    })
    expect(status).toBe(403)
  })

  it('that are more than a reader takes become fewer, and a stop is said', async () => {
    const { changes } = app.service.infrastructure
    const [reader, follower] = [changes.follow('slow'), changes.follow('slow')]
    for (let round = 0; round < 12; round += 1) {
      for (let at = 0; at < 150; at += 1) changes.report('slow', { type: 'contacts', id: `${round} ${at}` })
      await reader.changed()
      reader.take()
    }
    expect(follower.take()).toBe('missed')
    for (let at = 0; at < 5_000; at += 1) changes.report('slow', { type: 'contacts', id: `last ${at}` })
    await follower.changed()
    const last = follower.take()
    expect(last.length).toBeLessThan(300)
    expect(last).toContainEqual({ type: 'contacts', at: expect.any(String), sequence: expect.any(Number) })
    reader.end()
    follower.end()
  })
})
