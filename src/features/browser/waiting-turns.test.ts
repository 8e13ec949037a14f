/** Turns that are parked while a person has their browser. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openChannel } from '#test/support/cast-client.ts'
import type { Question } from '#test/support/chat-model.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { eventually } from '#test/support/eventually.ts'
import { openaiText, openaiToolCall } from '#test/support/model-server.ts'
import { type Site, startSite } from '#test/support/site-server.ts'
import { readTurn } from '#test/support/turn-reader.ts'
import { workflowCalls } from '#test/support/workflows.ts'

interface Turn {
  id: string
  status: string
  waiting?: { session_id?: string; approval_id?: string; tool: string; why: string }
}

const environment = { OUTBOUND_ALLOW: '127.0.0.1' }
let stage: ChatStage
let site: Site
let url: string

beforeAll(async () => {
  site = await startSite(() => '<title>Door</title><h1>Members only</h1>')
  stage = await setChatStage({ environment })
  url = await stage.app.listen()
})

afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  await site[Symbol.asyncDispose]()
})

/** Has a model say what it was told. */
const told = ({ messages }: Question) => ({
  stream: openaiText(`I was told: ${String(messages.at(-1)?.content)}`),
})

/** An agent whose model opens a page, and asks for a person. */
async function makeAgent(on: ChatStage, settings?: object) {
  const path = await on.makeChat({ browser_tools: true, ...settings })
  on.model.next(
    { stream: openaiToolCall('browser_navigate', { url: site.url }) },
    { stream: openaiToolCall('browser_ask_person', { reason: 'Sign in, please' }) },
  )
  return { path, agent: path.replace(/\/chat$/, '') }
}

async function current(on: ChatStage, path: string, conversationId: string) {
  const at = `${path}/conversations/${conversationId}/turn`
  return (await on.app.call<{ turn: Turn | null }>('GET', at)).body.turn
}

async function waiting(on: ChatStage, path: string, conversationId: string) {
  await eventually(async () =>
    expect(await current(on, path, conversationId)).toMatchObject({ status: 'waiting' }),
  )
  const turn = await current(on, path, conversationId)
  return { id: turn?.id ?? '', session: turn?.waiting?.session_id ?? '', waits: turn?.waiting }
}

async function send(on: ChatStage, settings?: object) {
  const { path, agent } = await makeAgent(on, settings)
  const { body } = await on.app.call<{
    userMessage: { conversationId: string }
    turn: { id: string; events: string }
  }>('POST', path, { body: { content: 'Sign in.', autoRag: false, background: true } })
  const { conversationId } = body.userMessage
  const read = () => readTurn(() => `${url}${body.turn.events}`)
  return { path, agent, conversationId, read, id: body.turn.id }
}

async function begin(on: ChatStage, settings?: object) {
  const begun = await send(on, settings)
  return { ...begun, ...(await waiting(on, begun.path, begun.conversationId)) }
}

type Sent = Awaited<ReturnType<typeof send>>
type Begun = Awaited<ReturnType<typeof begin>>

const handBack = ({ agent, session }: { agent: string; session: string }) =>
  stage.app.call('POST', `${agent}/browser/${session}/takeover/end`, { body: { note: 'Done.' } })

function handBackAndTell(begun: { agent: string; session: string }) {
  stage.model.next(told)
  return handBack(begun)
}

describe('a turn whose browser needs a person', () => {
  it('waits, says for what, and is one thing that needs a person', async () => {
    const begun = await begin(stage)
    const { path, agent, conversationId, session, id, waits } = begun
    expect(waits).toMatchObject({ tool: 'browser_ask_person', why: 'Sign in, please' })
    expect(waits).not.toHaveProperty('approval_id')
    expect(await stage.send(path, { content: 'And?', conversationId })).toMatchObject({
      status: 409,
      body: { code: 'CONVERSATION_WAITING', details: { turn_id: id, session_id: session } },
    })
    const attention = await stage.app.call<{ items: object[] }>('GET', `${agent}/attention`)
    expect(attention.body.items).toEqual([expect.objectContaining({ kind: 'takeover', session_id: session })])
    await handBack(begun)
    const { events } = await begun.read()
    expect(events.filter(({ type }) => type === 'takeover_requested')).toMatchObject([{ takeover_url: null }])
  })

  it.each<[string, (begun: Begun) => Promise<unknown>, object, object]>([
    [
      'a person has handed it back',
      handBackAndTell,
      { type: 'message_complete' },
      {
        content: expect.stringMatching(/has handed the browser back.\nTheir note: Done.[\s\S]*Members only/),
      },
    ],
    [
      'its session has ended',
      ({ agent, session }) => {
        stage.model.next(told)
        return stage.app.call('DELETE', `${agent}/browser?id=${session}`)
      },
      { type: 'message_complete' },
      { content: expect.stringContaining('The browser session has ended meanwhile.') },
    ],
    [
      'it was stopped',
      ({ path, id }) => stage.app.call('POST', `${path}/turns/${id}/stop`),
      { type: 'message_complete' },
      { metadata: { stopped: true } },
    ],
    [
      'a message came instead',
      ({ path, conversationId }) =>
        stage.send(path, { content: 'Never mind', conversationId, cancel_waiting: true, autoRag: false }),
      { type: 'error', code: 'CONFLICT' },
      { metadata: { error: expect.stringContaining('a new message came') } },
    ],
  ])('ends its wait when %s, and leaves nothing behind', async (_, how, last, answer) => {
    const begun = await begin(stage)
    await how(begun)
    expect(await endOf(begun, answer)).toMatchObject({ session: begun.session, last })
  })

  it('ends its wait when its time is over, and leaves nothing behind', async () => {
    const begun = await send(stage, { approval_timeout: 1 })
    const answer = { metadata: { error: expect.stringContaining('Nobody took the browser over') } }
    expect(await endOf(begun, answer)).toMatchObject({ last: { type: 'error', code: 'APPROVAL_EXPIRED' } })
  })

  /** Reads it to its end, and looks at all that could be left. */
  async function endOf({ read, path, agent, conversationId, id }: Sent, answer: object) {
    const { events } = await read()
    const waits = events.filter(({ type }) => type === 'turn_waiting')
    expect(waits).toMatchObject([{ session_id: expect.any(String) }])
    const session = String(waits[0]?.session_id)
    const stored = (await stage.messages(path)).find(message => message.id === id)
    expect(stored).toMatchObject(answer)
    expect(stored?.metadata).not.toHaveProperty('waiting')
    await eventually(async () => {
      expect(await stage.app.call('GET', `${agent}/browser/${session}/takeover`)).not.toMatchObject({
        status: 200,
      })
    })
    expect(await current(stage, path, conversationId)).toBeNull()
    return { session, last: events.at(-1) }
  }

  it('waits as much longer as the person is given', async () => {
    const begun = await begin(stage, { approval_timeout: 1200 })
    const { path, agent, session, conversationId } = begun
    const takeover = async () => {
      const at = `${agent}/browser/${session}/takeover`
      return (await stage.app.call<{ takeover_url: string; expires_at: string }>('GET', at)).body
    }
    const { takeover_url, expires_at: before } = await takeover()
    const token = new URL(takeover_url).searchParams.get('token') ?? ''
    const query = new URLSearchParams({ sessionId: session, token, client: '' })
    await using person = await openChannel(url, `/v1/sessions/cast?${query}`)
    await person.next(({ takeover }) => typeof takeover?.driver === 'string')
    person.send({ type: 'extend', seconds: 600 })
    await eventually(async () => {
      const { expires_at } = await takeover()
      expect(Date.parse(expires_at) - Date.parse(before)).toBe(600_000)
      expect(await current(stage, path, conversationId)).toMatchObject({ waiting: { until: expires_at } })
    })
    await handBack(begun)
    await begun.read()
  })

  it('also waits for a person who has taken it over', async () => {
    const begun = await begin(stage)
    const { path, agent, session, conversationId } = begun
    await handBack(begun)
    await begun.read()
    await stage.app.call('POST', `${agent}/browser/${session}/takeover`, { body: { reason: 'Mine' } })
    stage.model.next({ stream: openaiToolCall('browser_read', {}) })
    await stage.send(path, { content: 'Read', conversationId, autoRag: false, background: true })
    expect(await waiting(stage, path, conversationId)).toMatchObject({ session, waits: { why: 'Mine' } })
    await handBack(begun)
    await eventually(async () => expect(await current(stage, path, conversationId)).toBeNull())
    expect((await stage.messages(path)).at(-1)).toMatchObject({
      toolResults: [{ result: expect.stringContaining('Members only') }],
    })
  })
})

it.each<[string, (agent: string, path: string) => Promise<[string, () => Promise<void>]>]>([
  [
    'a schedule',
    async agent => {
      const { body } = await stage.app.call<{ id: string }>('POST', `${agent}/schedules`, {
        body: {
          name: 'S',
          type: 'delayed',
          delay_seconds: 1,
          callback_type: 'chat',
          callback_data: { content: 'Sign in' },
        },
      })
      const ended = () =>
        eventually(async () => {
          const { body: schedule } = await stage.app.call('GET', `${agent}/schedules/${body.id}`)
          expect(schedule).toMatchObject({ executions: [{ status: 'success' }] })
        })
      return [body.id, ended]
    },
  ],
  [
    'a workflow',
    async (agent, path) => {
      const { body } = await stage.app.call<{ id: string }>('POST', `${path}/conversations`, {
        body: { title: 'T' },
      })
      const workflows = workflowCalls(stage.app, agent)
      const chat = { type: 'chat', message: 'Sign in', conversation_id: body.id }
      const workflow_id = await workflows.create({ start: { type: 'trigger' }, chat }, ['start > chat'], {
        name: 'W',
      })
      const { execution_id } = (await workflows.execute({ workflow_id })).body
      return [body.id, () => workflows.reached(execution_id, 'complete').then(() => {})]
    },
  ],
])('a turn of %s waits for a person, too', async (_, start) => {
  const { path, agent } = await makeAgent(stage)
  const [conversationId, ended] = await start(agent, path)
  const { session } = await waiting(stage, path, conversationId)
  await handBackAndTell({ agent, session })
  await ended()
  expect((await stage.messages(path)).at(-1)?.content).toContain('Their note: Done.')
})

it('goes on after a restart, and its model learns that the browser is gone', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'waiting-'))
  try {
    let begun: Begun
    {
      await using first = await setChatStage({ environment, dataDirectory })
      begun = await begin(first)
    }
    await using second = await setChatStage({ environment, dataDirectory })
    second.model.next(told)
    const { path, conversationId, id } = begun
    await eventually(async () => expect(await current(second, path, conversationId)).toBeNull())
    expect((await second.messages(path)).at(-1)).toMatchObject({
      id,
      content: expect.stringContaining('The browser session has ended with its process'),
    })
  } finally {
    await rm(dataDirectory, { recursive: true, force: true })
  }
})
