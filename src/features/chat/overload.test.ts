/** Beyond what the process can carry, all that begins a turn is refused, and nothing else. */
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { errorRow } from '#test/spec/row.ts'
import { type TestApp, testApp } from '#test/support/build-app.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const agent = '/api/agents/default'
const endpoint = `${agent}/mcp/endpoint`
const protocolHeaders = { accept: 'application/json, text/event-stream' }

/** Begins questions whose bodies do not arrive; the function lets them arrive, empty. */
async function holdQuestions({ service }: TestApp, count: number) {
  const bodies = Array.from({ length: count }, () => new Readable({ read: () => {} }))
  const headers = { 'content-type': 'application/json' }
  const asked = bodies.map(payload =>
    service.app.inject({ method: 'POST', url: `${agent}/chat`, headers, payload }).then(answer => answer),
  )
  return async () => {
    for (const body of bodies) body.push(null)
    return (await Promise.all(asked)).map(({ statusCode }) => statusCode)
  }
}

function callOf(name: string, input: object) {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }
}

it(`questions of all kinds are answered with 503 in the shape of their area ${errorRow('shared', 503)}`, async () => {
  const app = await testApp({ startLag: () => ({ read: () => 100, stop: () => {} }) })
  const first = await app.call<{ userMessage: { id: string } }>('POST', `${agent}/chat`, {
    body: { content: 'Hello' },
  })
  const release = await holdQuestions(app, 200)
  vi.advanceTimersByTime(1000)
  const refused = {
    status: 503,
    headers: { 'retry-after': '5' },
    body: { error: expect.any(String), code: 'OVERLOADED' },
  }
  const again = `${agent}/chat/messages/${first.body.userMessage.id}/regenerate`
  expect(await app.call('POST', `${agent}/chat`, { body: { content: 'Hello' } })).toMatchObject(refused)
  expect(await app.call('POST', again, { body: {} })).toMatchObject(refused)
  expect(
    await app.call('POST', endpoint, {
      body: callOf('chat', { message: 'Hello' }),
      headers: protocolHeaders,
    }),
  ).toMatchObject({ ...refused, body: { error: { code: 'OVERLOADED' } } })

  const search = callOf('search_knowledge', { query: 'Hello' })
  for (const body of [search, { jsonrpc: '2.0', id: 1, method: 'tools/list' }])
    expect((await app.call('POST', endpoint, { body, headers: protocolHeaders })).status).toBe(200)
  const { body } = await app.call<{ meta: { total: number } }>('GET', `${agent}/chat/conversations`)
  expect(body.meta.total).toBe(1)
  expect(await release()).toEqual(Array(200).fill(400))
  expect((await app.call('POST', `${agent}/chat`, { body: { content: 'Hello' } })).status).toBe(200)
})
