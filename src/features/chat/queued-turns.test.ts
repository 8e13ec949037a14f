/** Turns in the background whose world has changed by the time they begin. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { laneLimits } from '#platform/jobs/lanes.ts'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { buildApp } from '#test/support/build-app.ts'
import { heldStream, usualAnswer } from '#test/support/chat-model.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { eventually } from '#test/support/eventually.ts'
import { startGateway } from '#test/support/gateway.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { openaiText } from '#test/support/model-server.ts'
import { passTime } from '#test/support/pass-time.ts'
import { readTurn } from '#test/support/turn-reader.ts'

interface Accepted {
  userMessage: { id: string; conversationId: string; metadata?: object }
  turn: { id: string; events: string }
}

let stage: ChatStage
let url: string

beforeAll(async () => {
  stage = await setChatStage()
  url = await stage.app.listen()
})

afterAll(() => stage[Symbol.asyncDispose]())

const send = (path: string, body: object, headers = {}, { app } = stage) =>
  app.call<Accepted>('POST', path, {
    body: { content: 'Hello', autoRag: false, background: true, ...body },
    headers,
  })
const read = ({ turn }: Accepted) => readTurn(() => `${url}${turn.events}`)

/** A conversation in which a turn goes on until it is let end, and another one waits. */
async function queued(path: string, by = {}, owner = {}, of = stage, more = {}) {
  const held = heldStream(['One'])
  stage.model.next(held.reply)
  const { body: first } = await send(path, {}, owner, of)
  await held.begun
  const { conversationId } = first.userMessage
  const next = { content: 'Two', conversationId, on_busy: 'queue', ...more }
  const { body: second } = await send(path, next, by, of)
  return { second, conversationId, open: held.open }
}

describe('a turn in the background', () => {
  it.each<[string, string, string, object]>([
    ['a budget that is spent', 'BUDGET_SPENT', '/settings', { monthly_tokens: 1 }],
    ['a provider without a model', 'MODEL_NOT_CONFIGURED', '/settings', { llm_provider: 'anthropic' }],
    ['an agent that is paused', 'CONFLICT', '', { status: 'paused' }],
  ])('is stored with its files and its error when it is refused by %s', async (_, code, place, change) => {
    const path = await stage.makeChat()
    const form = new FormData()
    form.append('file', new File(['Tides rise.'], 'tides.txt'))
    const received = await fetch(`${url}${path}/files`, { method: 'POST', body: form })
    const file = (await received.json()) as { id: string }
    const { second, open } = await queued(path, {}, {}, stage, { attachments: [{ id: file.id }] })
    const changed = await stage.app.call('PUT', `${path.replace(/.chat$/, '')}${place}`, { body: change })
    expect(changed).toMatchObject({ status: 200 })
    open()
    const { events } = await read(second)
    expect(events).toMatchObject([{ type: 'message_start' }, { type: 'error', code }])
    const { id } = second.turn
    expect((await stage.messages(path)).slice(2)).toMatchObject([
      { role: 'user', content: 'Two', metadata: { attachments: [{ id: file.id }] } },
      { role: 'assistant', id, content: '', metadata: { error: events.at(-1)?.message } },
    ])
  })

  it('does not begin for a key that was revoked meanwhile', async () => {
    const path = await stage.makeChat()
    const keys = path.replace(/chat$/, 'keys')
    const { body } = await stage.app.call<{ id: string; key: string }>('POST', keys, {
      body: { name: 'lost', role: 'admin' },
    })
    const { second, open } = await queued(path, { authorization: `Bearer ${body.key}` })
    await stage.app.call('DELETE', `${keys}/${body.id}`)
    open()
    expect((await read(second)).events).toMatchObject([{ type: 'error', code: 'UNAUTHORIZED' }])
    expect(await stage.messages(path)).toHaveLength(2)
  })

  it.each([
    ['viewer', 'FORBIDDEN'],
    ['chat', 'NOT_FOUND'],
    ['none', 'FORBIDDEN'],
  ] as const)('does not begin for an admin whose role is %s by then', async (role, code) => {
    const gateway = await startGateway()
    await using ended = new AsyncDisposableStack()
    ended.defer(gateway.close)
    const app = await buildApp({ environment: { ...gateway.environment, ...stage.model.environment } })
    ended.defer(() => app.close())
    const url = await app.listen()
    const owner = await gateway.headers('owner@example.com')
    const eve = await gateway.headers('eve@example.com')
    const agentId = await makeAgent(app, { headers: owner })
    const entry = await giveRole(app, agentId, { email: 'eve@example.com', role: 'admin', headers: owner })
    const { second, open } = await queued(`/api/agents/${agentId}/chat`, eve, owner, { ...stage, app })
    await app.call('DELETE', entry, { headers: owner })
    if (role !== 'none') await giveRole(app, agentId, { email: 'eve@example.com', role, headers: owner })
    open()
    const reading = readTurn(() => `${url}${second.turn.events}`, { headers: owner })
    expect((await reading).events).toMatchObject([{ type: 'error', code }])
  })

  it('has its conversation named by the model for titles', async () => {
    const path = await stage.makeChat({ title_model: 'small' })
    stage.model.next({ stream: openaiText('1 metre.') }, { stream: openaiText('Tides') })
    expect((await read((await send(path, {})).body)).text).toBe('1 metre.')
    await eventually(async () => {
      const { body } = await stage.app.call<{ conversations: object[] }>('GET', `${path}/conversations`)
      expect(body.conversations).toMatchObject([{ title: 'Tides' }])
    })
  })

  it.each([
    ['content', { content: 'Good-bye' }],
    ['conversation', { conversationId: 'another' }],
  ])('is not joined by a message with another %s', async (_what, other) => {
    const path = await stage.makeChat()
    const known = { clientMessageId: 'mine' }
    const { body } = await send(path, known)
    expect((await read(body)).text).toBe(usualAnswer)
    expect(await send(path, { ...known, ...other })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', error: expect.stringContaining('clientMessageId') },
    })
    expect((await send(path, known)).body.turn.id).toBe(body.turn.id)
  })

  it('is forgotten in time if it was withdrawn', async () => {
    const path = await stage.makeChat()
    const { second, open } = await queued(path)
    await stage.app.call('POST', `${path}/turns/${second.turn.id}/stop`)
    const agentId = path.split('/').at(-2) ?? ''
    const jobs = await stage.app.service.infrastructure.agentDatabases.use(agentId, ({ db }) =>
      db.selectFrom('outbox').select('name').where('name', '=', 'remove_turns').execute(),
    )
    open()
    expect(jobs).toHaveLength(2)
  })

  it('is kept where conversations make room for others, until it has begun', async () => {
    // Of an agent, so many run at a time.
    const most = laneLimits.turns.perAgent + 1
    const path = await stage.makeChat({ conversations_max: most })
    const running = Array.from({ length: most - 1 }, () => heldStream(['One']))
    stage.model.next(...running.map(({ reply }) => reply))
    for (const held of running) {
      await send(path, {})
      await held.begun
    }
    const { body: last } = await send(path, { content: 'Last' })
    expect(await send(path, { content: 'Too many' })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', error: expect.stringContaining('are being processed') },
    })
    for (const held of running) held.open()
    expect((await read(last)).text).toBe(usualAnswer)
    expect((await send(path, { content: 'Another' })).status).toBe(200)
  })

  it('leaves its events for ten minutes, also after others have left theirs', async () => {
    const clock = manualClock()
    await using timed = await setChatStage({ clock })
    const address = await timed.app.listen()
    const path = await timed.makeChat()
    for (const content of ['One', 'Two']) {
      const { body } = await send(path, { content }, {}, timed)
      const events = async () => (await readTurn(() => `${address}${body.turn.events}`)).events.length
      expect(await events()).toBeGreaterThan(2)
      await passTime(timed.app, clock, 9 * 60_000)
      expect(await events()).toBeGreaterThan(2)
      await passTime(timed.app, clock, 2 * 60_000)
      expect(await events()).toBe(0)
    }
  })
})
