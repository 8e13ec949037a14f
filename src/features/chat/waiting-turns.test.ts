import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { refusal, usualAnswer } from '#test/support/chat-model.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { eventually } from '#test/support/eventually.ts'
import { type ModelServer, openaiText, openaiToolCall, startModelServer } from '#test/support/model-server.ts'
import { readTurn } from '#test/support/turn-reader.ts'
import { workflowCalls } from '#test/support/workflows.ts'
import { findTurn, putWaiting } from './rows/turns.repository.ts'

interface Turn {
  id: string
  status: string
  waiting?: { approval_id: string; tool: string; arguments: unknown; why: string; until: string }
}

let stage: ChatStage
let outside: ModelServer
let url: string
/** Calls of the tool. */
let sent = 0

beforeAll(async () => {
  outside = await startModelServer(() => {
    sent += 1
    return { status: 200, body: { sent: true } }
  })
  stage = await setChatStage({ environment: { OUTBOUND_ALLOW: '127.0.0.1' } })
  url = await stage.app.listen()
})

beforeEach(() => {
  sent = 0
})

afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  await outside[Symbol.asyncDispose]()
})

/** An agent whose model calls a tool that needs approval, and then answers. */
async function makeAgent(settings?: object, given = {}) {
  const path = await stage.makeChat(settings)
  const agent = path.replace('/chat', '')
  const configuration = { method: 'POST', url: outside.url }
  await stage.app.call('POST', `${agent}/tools`, {
    body: { name: 'pay', description: 'd', type: 'http', requiresApproval: 'always', configuration },
  })
  stage.model.next({ stream: openaiToolCall('pay', given) })
  return { path, agent }
}

async function current(path: string, conversationId: string) {
  const { body } = await stage.app.call<{ turn: Turn | null }>(
    'GET',
    `${path}/conversations/${conversationId}/turn`,
  )
  return body.turn
}

async function waiting(path: string, conversationId: string) {
  await eventually(async () =>
    expect(await current(path, conversationId)).toMatchObject({ status: 'waiting' }),
  )
  const turn = await current(path, conversationId)
  return { id: turn?.id ?? '', call: turn?.waiting?.approval_id ?? '', ...turn?.waiting }
}

/** Until the job of a turn of the agent is to run again, from its beginning, in milliseconds. */
async function pauseOf(agent: string): Promise<number> {
  const job = await stage.app.service.infrastructure.agentDatabases.use(
    agent.split('/').at(-1) ?? '',
    ({ db }) => db.selectFrom('outbox').selectAll().where('name', '=', 'turn').executeTakeFirst(),
  )
  return Date.parse(job?.run_at ?? '') - Date.parse(job?.created_at ?? '')
}

const decide = (path: string, call: string, approved: boolean) =>
  stage.app.call('POST', `${path}/approvals/${call}`, { body: { approved } })

async function send(settings?: object, given?: object) {
  const { path, agent } = await makeAgent(settings, given)
  const { body } = await stage.app.call<{
    userMessage: { conversationId: string }
    turn: { id: string; events: string }
  }>('POST', path, { body: { content: 'Pay', autoRag: false, background: true } })
  const { conversationId } = body.userMessage
  return { path, agent, conversationId, events: body.turn.events, id: body.turn.id }
}

async function begin(settings?: object, given?: object) {
  const begun = await send(settings, given)
  return { ...begun, ...(await waiting(begun.path, begun.conversationId)) }
}

type Begun = Awaited<ReturnType<typeof begin>>

/** A node whose turn waits for a decision on a call. */
interface AskingNode extends Pick<Begun, 'path' | 'agent' | 'call'> {
  workflow_id: string
  execution_id: string
}

describe('a turn whose call needs approval', () => {
  it('waits, says for what, and keeps others from its conversation', async () => {
    const { path, agent, conversationId, id, call, tool, why, until } = await begin()
    expect({ tool, why: why?.length, until }).toEqual({
      tool: 'pay',
      why: expect.any(Number),
      until: expect.stringMatching(/Z$/),
    })
    const others = [
      stage.send(path, { content: 'And?', conversationId }),
      stage.send(path, { content: 'And?', conversationId, background: true }),
      stage.app.call('DELETE', `${path}/conversations/${conversationId}`),
      stage.app.call('POST', `${path}/messages/${id}/regenerate`, { body: {} }),
    ]
    for (const other of others)
      expect(await other).toMatchObject({
        status: 409,
        body: { code: 'CONVERSATION_WAITING', details: { turn_id: id, approval_id: call, tool: 'pay' } },
      })
    expect((await stage.messages(path)).at(-1)).toMatchObject({
      metadata: { waiting: true },
      toolResults: [{ toolCallId: call, approval: 'required' }],
    })
    const { body } = await stage.app.call<{ items: { kind: string; id: string }[] }>(
      'GET',
      `${agent}/attention`,
    )
    expect(body.items).toMatchObject([{ kind: 'tool_approval', id: call }])
    expect((await stage.app.call('GET', `${path}/approvals`)).body).toMatchObject({
      approvals: [{ toolCallId: call, waiting: { rule: 'always', approvers: 'admins', why, until } }],
    })
    expect(sent).toBe(0)
  })

  it.each<[string, (begun: Begun) => Promise<unknown>, object, number, object]>([
    [
      'an approval',
      ({ path, call }) => decide(path, call, true),
      { type: 'message_complete' },
      1,
      { content: usualAnswer, toolResults: [{ result: expect.anything() }] },
    ],
    [
      'a refusal',
      ({ path, call }) => decide(path, call, false),
      { type: 'message_complete' },
      0,
      { content: usualAnswer, toolResults: [{ error: 'A person has refused this call.' }] },
    ],
    [
      'a stop',
      ({ path, id }) => stage.app.call('POST', `${path}/turns/${id}/stop`),
      { type: 'message_complete' },
      0,
      { content: '', metadata: { stopped: true } },
    ],
    [
      'a message instead',
      ({ path, conversationId }) => {
        return stage.send(path, {
          content: 'Never mind',
          conversationId,
          cancel_waiting: true,
          autoRag: false,
        })
      },
      { type: 'error', code: 'CONFLICT' },
      0,
      { content: '', metadata: { error: expect.stringContaining('refused') } },
    ],
  ])('goes on after %s', async (_, how, last, calls, answer) => {
    const begun = await begin()
    const { path, events, id, conversationId, call } = begun
    expect(await how(begun)).toMatchObject({ status: 200 })
    const read = await readTurn(() => `${url}${events}`)
    expect(read.events.filter(({ type }) => type === 'turn_waiting')).toMatchObject([
      { approval_id: call, tool: 'pay' },
    ])
    expect(read.events.at(-1)).toMatchObject(last)
    expect(sent).toBe(calls)
    const stored = (await stage.messages(path)).find(message => message.id === id)
    expect(stored).toMatchObject(answer)
    expect(stored?.metadata).not.toHaveProperty('waiting')
    expect(await current(path, conversationId)).toBeNull()
    expect(await decide(path, call, true)).toMatchObject({ status: 409 })
    expect((await stage.app.call('GET', `${path}/approvals?status=pending`)).body).toMatchObject({
      approvals: [],
    })
  })

  it('says in its answer that it has ended where it can no longer go on', async () => {
    const { path, agent, events, id, call } = await begin()
    await stage.app.call('PUT', agent, { body: { status: 'paused' } })
    expect(await decide(path, call, false)).toMatchObject({ status: 200 })
    const { events: read } = await readTurn(() => `${url}${events}`)
    expect(read.at(-1)).toMatchObject({ type: 'error', code: 'CONFLICT' })
    const stored = (await stage.messages(path)).find(message => message.id === id)
    expect(stored).toMatchObject({
      metadata: { error: expect.stringContaining('paused') },
      toolResults: [{ toolCallId: call, error: expect.stringContaining('paused') }],
    })
    expect(stored?.metadata).not.toHaveProperty('waiting')
  })

  it('has its conversation named once, when it has gone on', async () => {
    const { path, events, call } = await begin({ title_model: 'small' })
    stage.model.next({ stream: openaiText('Paid.') }, { stream: openaiText('A payment') })
    await decide(path, call, true)
    await readTurn(() => `${url}${events}`)
    await eventually(async () => {
      const { body } = await stage.app.call('GET', `${path}/conversations`)
      expect(body).toMatchObject({ conversations: [{ title: 'A payment' }] })
    })
  })

  it('is looked at soon by those behind it, should they miss its end', async () => {
    const { path, agent, conversationId, until } = await begin()
    const queued = { content: 'Next', conversationId, on_busy: 'queue', autoRag: false, background: true }
    await stage.send(path, queued)
    await eventually(async () => {
      const pause = await pauseOf(agent)
      expect(pause).toBeGreaterThan(20_000)
      expect(pause).toBeLessThan((Date.parse(until ?? '') - Date.now()) / 2)
    })
  })

  it.each<[string, (begun: Begun) => Promise<unknown>, number]>([
    ['its turn has ended', ({ path, id }) => stage.app.call('POST', `${path}/turns/${id}/stop`), 0],
    ['a later run has begun', async () => {}, -1],
  ])('does not begin to wait, for a run that stood still, once %s', async (_, how, behind) => {
    const begun = await begin()
    const { path, agent, conversationId, id } = begun
    const use = <Result>(work: (handle: AgentHandle) => Promise<Result>) =>
      stage.app.service.infrastructure.agentDatabases.use(agent.split('/').at(-1) ?? '', work)
    const stored = await use(({ db }) => findTurn(db, id))
    if (stored === undefined) throw new Error('the turn has no row')
    await how(begun)
    const now = await current(path, conversationId)
    const { sequence: _sequence, ...row } = { ...stored, run: stored.run + behind, waiting: '{"why":"late"}' }
    expect(await use(({ db }) => putWaiting(db, row))).toBe(false)
    expect(await current(path, conversationId)).toEqual(now)
  })

  it('keeps each digit of the numbers that it was given', async () => {
    const { path, conversationId, call } = await begin(undefined, {
      to: JSON.rawJSON('12345678901234567890'),
    })
    const textOf = async (rest: string) => (await fetch(`${url}${path}${rest}`)).text()
    expect(await textOf(`/conversations/${conversationId}/turn`)).toContain('"to":12345678901234567890')
    await decide(path, call, true)
    await eventually(async () => expect(await current(path, conversationId)).toBeNull())
    expect(await textOf(`?conversationId=${conversationId}`)).toContain('"to":12345678901234567890')
  })

  it('ends with a sentence when its time is over', async () => {
    const { path, events, id } = await send({ approval_timeout: 1 })
    const { events: read } = await readTurn(() => `${url}${events}`)
    expect(read.at(-1)).toMatchObject({ type: 'error', code: 'APPROVAL_EXPIRED' })
    expect(sent).toBe(0)
    const stored = (await stage.messages(path)).find(message => message.id === id)
    expect(stored).toMatchObject({ metadata: { error: expect.stringContaining('pay') } })
  })
})

describe('a turn without a caller', () => {
  async function schedule(agent: string): Promise<string> {
    const { body } = await stage.app.call<{ id: string }>('POST', `${agent}/schedules`, {
      body: {
        name: 'S',
        type: 'delayed',
        delay_seconds: 1,
        callback_type: 'chat',
        callback_data: { content: 'Pay' },
      },
    })
    return body.id
  }

  it.each<[string, boolean | undefined, string, number]>([
    ['approved', true, 'success', 1],
    ['never decided', undefined, 'error', 0],
  ])('of a schedule waits, and %s its execution is right', async (_, decision, status, calls) => {
    const { path, agent } = await makeAgent({ approval_timeout: decision === undefined ? 1 : 60 })
    const id = await schedule(agent)
    if (decision !== undefined) {
      const { call } = await waiting(path, id)
      expect(await current(path, id)).not.toHaveProperty('events')
      await decide(path, call, decision)
    }
    await eventually(async () => {
      const { body } = await stage.app.call('GET', `${agent}/schedules/${id}`)
      expect(body).toMatchObject({ executions: [{ status }] })
    })
    expect(sent).toBe(calls)
  })

  it('of a schedule lets messages go on that queue behind it once it is stopped', async () => {
    const { path, agent } = await makeAgent()
    const id = await schedule(agent)
    const { id: turnId } = await waiting(path, id)
    const queued = { content: 'Next', conversationId: id, on_busy: 'queue', autoRag: false, background: true }
    await stage.send(path, queued)
    // One that is looked at right now would miss the end, and be looked at again later.
    await eventually(async () => expect(await pauseOf(agent)).toBeGreaterThan(20_000))
    await stage.app.call('POST', `${path}/turns/${turnId}/stop`)
    await eventually(async () =>
      expect((await stage.messages(path)).at(-1)).toMatchObject({ content: usualAnswer }),
    )
  })

  it.each<[string, boolean | undefined, string, number]>([
    ['approved', true, 'complete', 1],
    ['never decided', undefined, 'errored', 0],
  ])('of a workflow waits, and %s its execution is right', async (_, decision, status, calls) => {
    const { path, agent } = await makeAgent({ approval_timeout: decision === undefined ? 1 : 60 })
    const { body: conversation } = await stage.app.call<{ id: string }>('POST', `${path}/conversations`, {
      body: { title: 'T' },
    })
    const workflows = workflowCalls(stage.app, agent)
    const chat = { type: 'chat', message: 'Pay', conversation_id: conversation.id, timeout_seconds: 60 }
    const workflow_id = await workflows.create({ start: { type: 'trigger' }, chat }, ['start > chat'], {
      name: 'W',
    })
    const { execution_id } = (await workflows.execute({ workflow_id })).body
    if (decision !== undefined) await decide(path, (await waiting(path, conversation.id)).call, decision)
    await workflows.reached(execution_id, status)
    expect(sent).toBe(calls)
  })

  it.each([true, false])('of a schedule ends where it can no longer go on, approved: %s', async approved => {
    const { path, agent } = await makeAgent()
    const id = await schedule(agent)
    const { call } = await waiting(path, id)
    await stage.app.call('PUT', `${agent}/settings`, { body: { monthly_tokens: 1 } })
    await decide(path, call, approved)
    await eventually(async () => expect(await current(path, id)).toBeNull())
    expect((await stage.messages(path)).at(-1)).toMatchObject({ metadata: { error: expect.any(String) } })
    const { body } = await stage.app.call('GET', `${path}/approvals`)
    expect(body).toMatchObject({ approvals: [{ toolCallId: call, status: 'denied' }] })
    expect(sent).toBe(0)
  })

  async function execute({ path, agent }: Pick<Begun, 'path' | 'agent'>, others = {}) {
    const { body: conversation } = await stage.app.call<{ id: string }>('POST', `${path}/conversations`, {
      body: { title: 'T' },
    })
    const workflows = workflowCalls(stage.app, agent)
    const chat = { type: 'chat', message: 'Pay', conversation_id: conversation.id, ...others }
    const workflow_id = await workflows.create({ start: { type: 'trigger' }, chat }, ['start > chat'])
    const { execution_id } = (await workflows.execute({ workflow_id })).body
    const { call } = await waiting(path, conversation.id)
    return { workflows, execution_id, conversationId: conversation.id, call }
  }

  it('of a workflow that has failed keeps its own error, and can be followed', async () => {
    const made = await makeAgent()
    const { path } = made
    const { workflows, execution_id, conversationId, call } = await execute(made)
    stage.model.next(refusal(401, 'no'))
    await decide(path, call, true)
    await workflows.reached(execution_id, 'errored')
    await eventually(async () => expect(await current(path, conversationId)).toBeNull())
    const error = expect.stringContaining('refused the configured key')
    expect((await stage.messages(path)).at(-1)).toMatchObject({ metadata: { error } })
  })

  it('of a workflow goes on where it was when its node is tried again', async () => {
    const made = await makeAgent()
    const { workflows, execution_id, call } = await execute(made, { retries: { max: 1, delay_seconds: 0 } })
    // One failure of the node is one after three attempts.
    stage.model.next(refusal(500, 'no'), refusal(500, 'no'), refusal(500, 'no'))
    await decide(made.path, call, true)
    const execution = await workflows.reached(execution_id, 'complete', 'errored')
    expect(workflows.outputs(execution)).toMatchObject({ chat: { content: usualAnswer } })
    expect(sent).toBe(1)
  })

  it('of a schedule ends with its decision once that is gone', async () => {
    const { path, agent } = await makeAgent()
    const id = await schedule(agent)
    const { call } = await waiting(path, id)
    await stage.app.call('DELETE', `${agent}/schedules/${id}`)
    await decide(path, call, true)
    await eventually(async () => expect(await current(path, id)).toBeNull())
    expect(sent).toBe(0)
  })

  it.each<[string, (at: AskingNode) => Promise<unknown>]>([
    [
      'its execution is terminated',
      ({ agent, execution_id }) =>
        stage.app.call('POST', `${agent}/workflows/executions/${execution_id}/terminate`),
    ],
    [
      'its workflow is deleted',
      ({ agent, workflow_id }) => stage.app.call('DELETE', `${agent}/workflows/${workflow_id}`),
    ],
    [
      'another node fails',
      ({ agent, execution_id }) =>
        stage.app.call('POST', `${agent}/workflows/executions/${execution_id}/nodes/ask/resume`, {
          body: { approved: true },
        }),
    ],
    [
      'it can no longer go on after the decision',
      async ({ agent, path, call }) => {
        await stage.app.call('PUT', `${agent}/settings`, { body: { monthly_tokens: 1 } })
        return await decide(path, call, true)
      },
    ],
  ])('of a workflow frees its conversation at once when %s', async (_, how) => {
    const { path, agent } = await makeAgent()
    const { body: conversation } = await stage.app.call<{ id: string }>('POST', `${path}/conversations`, {
      body: { title: 'T' },
    })
    const workflows = workflowCalls(stage.app, agent)
    const nodes = {
      start: { type: 'trigger' },
      chat: { type: 'chat', message: 'Pay', conversation_id: conversation.id },
      ask: { type: 'wait', approval: 'Go on?' },
      bad: { type: 'code', code: 'throw new Error("No")' },
      // With this, the execution goes on when the node has failed.
      later: { type: 'wait', seconds: 86_400 },
    }
    const edges = ['start > chat', 'chat/error > later', 'start > ask', 'ask/approved > bad']
    const workflow_id = await workflows.create(nodes, edges)
    const { execution_id } = (await workflows.execute({ workflow_id })).body
    const { id, call } = await waiting(path, conversation.id)
    await workflows.waiting(execution_id, 'ask')
    expect(await how({ path, agent, workflow_id, execution_id, call })).toMatchObject({ status: 200 })
    await eventually(async () => expect(await current(path, conversation.id)).toBeNull())
    const stored = (await stage.messages(path)).find(message => message.id === id)
    expect(stored).toMatchObject({ metadata: { error: expect.stringContaining('what had begun it') } })
    expect(stored?.metadata).not.toHaveProperty('waiting')
    expect(await decide(path, call, true)).toMatchObject({ status: 409 })
    await stage.app.call('PUT', `${agent}/settings`, { body: { monthly_tokens: 1_000_000 } })
    const next = { content: 'Next', conversationId: conversation.id, autoRag: false }
    expect(await stage.send(path, next)).toMatchObject({ status: 200 })
    expect(sent).toBe(0)
  })

  it('of a workflow waits behind another that waits', async () => {
    const { path, agent, conversationId, call, until } = await begin()
    const workflows = workflowCalls(stage.app, agent)
    const chat = { type: 'chat', message: 'Next', conversation_id: conversationId }
    const workflow_id = await workflows.create({ start: { type: 'trigger' }, chat }, ['start > chat'])
    const { execution_id } = (await workflows.execute({ workflow_id })).body
    await workflows.waiting(execution_id, 'chat')
    expect((await workflows.get(execution_id)).body).toMatchObject({ waiting_until: until })
    await decide(path, call, true)
    const execution = await workflows.reached(execution_id, 'complete', 'errored')
    expect(workflows.outputs(execution)).toMatchObject({ chat: { content: usualAnswer } })
    const said = await stage.messages(path)
    expect(said.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect(said.at(2)).toMatchObject({ content: 'Next' })
  })
})

it('goes on where it was after a restart, and makes a call that may have run no second time', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'waiting-'))
  const environment = { OUTBOUND_ALLOW: '127.0.0.1' }
  const former = stage
  try {
    let path = ''
    let conversationId = ''
    {
      await using first = await setChatStage({ environment, dataDirectory })
      stage = first
      const begun = await begin()
      path = begun.path
      conversationId = begun.conversationId
    }
    await using second = await setChatStage({ environment, dataDirectory })
    stage = second
    const { call, id } = await waiting(path, conversationId)
    expect(await decide(path, call, true)).toMatchObject({ status: 200, body: { turn: { id } } })
    await eventually(async () => expect(await current(path, conversationId)).toBeNull())
    expect((await stage.messages(path)).at(-1)).toMatchObject({ id, content: usualAnswer })
    expect(sent).toBe(1)
  } finally {
    stage = former
    await rm(dataDirectory, { recursive: true, force: true })
  }
})
