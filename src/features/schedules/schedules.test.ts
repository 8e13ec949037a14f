import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorRow, row } from '#test/spec/row.ts'
import { eventually } from '#test/support/eventually.ts'
import { type AgentCalls, type ScheduleStage, setScheduleStage } from '#test/support/schedule-stage.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
let stage: ScheduleStage
let someAgent: AgentCalls | undefined

beforeAll(async () => {
  stage = await setScheduleStage()
})

afterAll(() => stage[Symbol.asyncDispose]())

const now = () => new Date(stage.clock.now()).toISOString()
const later = (milliseconds: number) => new Date(stage.clock.now() + milliseconds).toISOString()

describe('a schedule', () => {
  it(`is created, read, changed and deleted: ${row('POST /api/agents/{id}/schedules')}, ${row('GET /api/agents/{id}/schedules/{scheduleId}')}, ${row('PUT /api/agents/{id}/schedules/{scheduleId}')}, ${row('DELETE /api/agents/{id}/schedules/{scheduleId}')}`, async () => {
    const agent = await stage.agent()
    const given = {
      name: 'Report',
      type: 'cron',
      cron_expression: '0 9 * * mon-fri',
      timezone: 'Europe/Berlin',
      callback_type: 'chat',
      callback_data: { content: 'What is new?', more: { a: [1] } },
    }
    const created = await agent.post(given)
    expect(created).toMatchObject({
      status: 201,
      body: {
        ...given,
        callback_id: null,
        delay_seconds: null,
        overlap: 'skip',
        status: 'active',
        last_run: null,
        executions: [],
        current: [],
        created_at: now(),
      },
    })
    const { id, next_run, next_runs } = created.body
    expect(next_runs).toHaveLength(5)
    expect(next_runs[0]).toBe(next_run)
    expect(await agent.get(id)).toEqual(created.body)
    const { status, body } = await agent.put(id, { name: 'R', cron_expression: '30 8 1 * *' })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { name: 'R', callback_data: given.callback_data },
    })
    expect(body.next_run?.slice(8)).toMatch(/^01T0[67]:30:00.000Z$/)
    expect(await stage.app.call('DELETE', `${agent.path}/${id}`)).toMatchObject({
      status: 200,
      body: { success: true },
    })
    expect(await stage.app.call('GET', `${agent.path}/${id}`)).toMatchObject({ status: 404 })
  })

  it.each([
    ...['2031-02-03T16:00:00+09', '2031-02-03 16:00:00+0900', '2031-02-03t07:00z', '20310203T080000,0+01'],
    ...[
      '2031-02-03T02:00',
      '2031-02-03T02:00:00.000[America/New_York]',
      '2031-02-03T16:00+09:00:00[Asia/Tokyo]',
    ],
  ])('of the time %s runs at that instant', async next_run => {
    someAgent ??= await stage.agent()
    const { body } = await someAgent.post({ type: 'once', next_run, timezone: 'America/New_York' })
    expect(body.next_run).toBe('2031-02-03T07:00:00.000Z')
  })

  it(`is listed with what it is about: ${row('GET /api/agents/{id}/schedules')}`, async () => {
    const agent = await stage.agent()
    const cron = { type: 'cron', cron_expression: '0 0 * * *' }
    const ids = [
      await agent.create({ name: 'One', type: 'once', next_run: later(hour) }),
      await agent.create({ name: 'Two', ...cron, status: 'paused' }),
      await agent.create({ name: 'Three', ...cron }),
    ]
    const list = async (query: string) =>
      (await stage.app.call<{ schedules: { id: string }[] }>('GET', `${agent.path}?${query}`)).body
    expect(await list('sort=name')).toMatchObject({
      schedules: [
        { name: 'One', type: 'once', status: 'active', cron_expression: null, callback_type: 'webhook' },
        { name: 'Three', next_run: expect.any(String), last_run: null, callback_id: null },
        { name: 'Two', status: 'paused', next_run: null },
      ],
      meta: { total: 3, limit: 50, offset: 0, has_more: false },
    })
    const found = async (query: string) => (await list(query)).schedules.map(({ id }) => ids.indexOf(id))
    expect(await found('status=paused')).toEqual([1])
    expect((await found('type=cron')).toSorted()).toEqual([1, 2])
    expect(await found('search=thr')).toEqual([2])
    expect((await found('limit=2&cursor=')).length).toBe(2)
    const { body } = await stage.app.call('GET', `/api/agents/${agent.agentId}`)
    expect(body).toMatchObject({ stats: { schedules: 3 } })
  })

  it.each([
    [{ type: 'cron' }, 'cron_expression'],
    [{ type: 'cron', cron_expression: '0 9 * *' }, 'five fields'],
    [{ type: 'cron', cron_expression: '@daily' }, 'five fields'],
    [{ type: 'cron', cron_expression: '0 0 30 2 *' }, 'never comes'],
    [{ type: 'cron', cron_expression: '0 9 * * *', timezone: 'Mars/Base' }, 'timezone'],
    [{ type: 'cron', cron_expression: '0 9 * * *', delay_seconds: 5 }, 'delay_seconds'],
    [{ type: 'once' }, 'next_run'],
    [{ type: 'once', next_run: '2020-01-01T00:00:00Z' }, 'in the future'],
    [{ type: 'once', next_run: 'tomorrow' }, 'ISO 8601'],
    [{ type: 'once', next_run: '2090-06-01T00:00:60Z' }, 'leap second'],
    [{ type: 'once', next_run: '2090-06-01T09:00:00+01:00[Europe/Berlin]' }, 'does not have then'],
    [{ type: 'once', next_run: '2090-W22-4' }, 'its month and day'],
    [{ type: 'delayed' }, 'delay_seconds'],
    [{ type: 'delayed', delay_seconds: 0 }, 'delay_seconds'],
    [{ type: 'yearly' }, 'type'],
    [{ type: 'delayed', delay_seconds: 5, name: ' ' }, 'name'],
    [{ type: 'delayed', delay_seconds: 5, callback_type: 'chat' }, 'callback_data.content'],
    [{ type: 'delayed', delay_seconds: 5, callback_data: {} }, 'callback_data.url'],
    [{ type: 'delayed', delay_seconds: 5, callback_type: 'workflow' }, 'callback_id'],
    [{ type: 'delayed', delay_seconds: 5, callback_type: 'mail' }, 'callback_type'],
    [{ type: 'delayed', delay_seconds: 5, callback_data: { url: 'http://10.0.0.1/' } }, 'OUTBOUND_ALLOW'],
  ])(`that is wrong is refused with a sentence: %j: ${errorRow('schedules', 400)}`, async (fields, part) => {
    someAgent ??= await stage.agent()
    const { status, body } = await someAgent.post(fields)
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain(part)
  })

  it(`that is unknown, or of another agent, is not found: ${errorRow('schedules', 404)}`, async () => {
    const [agent, other] = [await stage.agent(), await stage.agent()]
    const id = await other.create({ type: 'delayed', delay_seconds: 60 })
    const workflow = await other.workflows.create({ start: { type: 'trigger' } }, [])
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect(
        await stage.app.call(method, `${agent.path}/${id}`, method === 'PUT' ? { body: { name: 'x' } } : {}),
      ).toMatchObject({ status: 404 })
    expect(await agent.run(id)).toMatchObject({ status: 404 })
    const foreign = { type: 'delayed', delay_seconds: 60, callback_type: 'workflow', callback_id: workflow }
    expect(await agent.post(foreign)).toMatchObject({ status: 404 })
  })
})

describe('a schedule runs', () => {
  it('once, at its time, and has completed then', async () => {
    const agent = await stage.agent()
    const id = await agent.create({ type: 'once', next_run: later(hour) })
    await stage.pass(hour - minute)
    expect(agent.received()).toEqual([])
    const time = later(minute)
    await stage.pass(minute)
    const schedule = await agent.get(id)
    expect(schedule).toMatchObject({
      status: 'completed',
      next_run: null,
      next_runs: [],
      last_run: time,
      executions: [
        { scheduled_for: time, executed_at: time, status: 'success', error: null, late_seconds: 0 },
      ],
      current: [],
    })
    const [received] = agent.received()
    const execution = schedule.executions[0]?.id
    expect(received?.headers['idempotency-key']).toBe(execution)
    const facts = { agent_id: agent.agentId, schedule_id: id, execution_id: execution, scheduled_for: time }
    expect(JSON.parse(received?.body ?? '')).toEqual({ ...facts, data: {} })
    expect(await agent.put(id, { status: 'active' })).toMatchObject({ status: 400 })
    expect(await agent.put(id, { status: 'paused' })).toMatchObject({ status: 400 })
    expect(await agent.put(id, { next_run: later(minute) })).toMatchObject({
      status: 200,
      body: { status: 'active' },
    })
    await stage.pass(minute)
    expect(agent.received()).toHaveLength(2)
  })

  it('after a delay, and again when it is resumed', async () => {
    const agent = await stage.agent()
    const id = await agent.create({ type: 'delayed', delay_seconds: 90 })
    expect((await agent.get(id)).next_run).toBe(later(90 * second))
    await stage.pass(90 * second)
    expect(await agent.get(id)).toMatchObject({ status: 'completed', delay_seconds: 90 })
    await agent.put(id, { status: 'active' })
    await stage.pass(90 * second)
    expect(agent.received()).toHaveLength(2)
  })

  it('by its expression, in its time zone', async () => {
    const agent = await stage.agent()
    await stage.pass('2026-03-27T12:00:00Z')
    const zone = { timezone: 'Europe/Berlin' }
    const id = await agent.create({ type: 'cron', cron_expression: '30 2 * * *', ...zone })
    const runs = ['2026-03-28T01:30:00.000Z', '2026-03-29T01:30:00.000Z', '2026-03-30T00:30:00.000Z']
    expect((await agent.get(id)).next_runs.slice(0, 3)).toEqual(runs)
    for (const run of runs) {
      await stage.pass(Date.parse(run) - minute - stage.clock.now())
      await stage.pass(minute)
    }
    const { executions } = await agent.get(id)
    expect(executions.map(({ scheduled_for }) => scheduled_for)).toEqual(runs.toReversed())
    expect(agent.received()).toHaveLength(3)
  })

  it('never while it is paused, nor for what it was before an edit', async () => {
    const agent = await stage.agent()
    await stage.pass(hour - (stage.clock.now() % hour))
    const id = await agent.create({ type: 'cron', cron_expression: '*/10 * * * *' })
    const paused = await agent.put(id, { status: 'paused' })
    expect(paused.body).toMatchObject({ next_run: null, next_runs: [] })
    await stage.pass(hour)
    await agent.put(id, { status: 'active' })
    await agent.put(id, { cron_expression: '*/20 * * * *' })
    await stage.pass(10 * minute)
    expect(agent.received()).toEqual([])
    await stage.pass(10 * minute)
    expect(agent.received()).toHaveLength(1)
    const soon = await agent.create({ type: 'delayed', delay_seconds: 5 })
    await stage.app.call('DELETE', `${agent.path}/${soon}`)
    await stage.pass(minute)
    expect(agent.received()).toHaveLength(1)
    expect((await agent.get(id)).executions).toMatchObject([{ status: 'success' }])
  })

  it('by hand, besides its own times', async () => {
    const agent = await stage.agent()
    const id = await agent.create({ type: 'once', next_run: later(hour), status: 'paused' })
    expect(await agent.run(id)).toMatchObject({
      status: 200,
      body: { status: 'running', scheduled_for: null, executed_at: now() },
    })
    await stage.pass(0)
    expect(await agent.get(id)).toMatchObject({
      status: 'paused',
      last_run: now(),
      executions: [{ status: 'success', scheduled_for: null }],
    })
    await agent.setAgent({ status: 'paused' })
    expect(await agent.run(id)).toMatchObject({ status: 409 })
    expect(agent.received()).toHaveLength(1)
  })

  it('and tells subscribers', async () => {
    const agent = await stage.agent()
    const webhook = { url: `${stage.receiver.url}/${agent.agentId}`, events: ['schedule.fired'] }
    await stage.app.call('POST', `/api/agents/${agent.agentId}/webhooks`, { body: webhook })
    const id = await agent.create({ type: 'delayed', delay_seconds: 1 })
    await stage.pass(second)
    const types = agent.received().map(({ body }) => JSON.parse(body))
    expect(types).toContainEqual(
      expect.objectContaining({
        type: 'schedule.fired',
        data: expect.objectContaining({ schedule_id: id, callback_type: 'webhook', scheduled_for: now() }),
      }),
    )
  })
})

describe('times are missed', () => {
  it('while nobody is there: the latest runs late, the others are one entry', async () => {
    const agent = await stage.agent()
    await stage.pass(hour - (stage.clock.now() % hour))
    const begun = stage.clock.now()
    const id = await agent.create({ type: 'cron', cron_expression: '*/10 * * * *' })
    const at = (minutes: number) => new Date(begun + minutes * minute).toISOString()
    await stage.pass(45 * minute)
    expect(agent.received()).toHaveLength(1)
    expect(await agent.get(id)).toMatchObject({
      next_run: at(50),
      executions: [
        { status: 'success', scheduled_for: at(40), late_seconds: 300 },
        {
          status: 'missed',
          error: 'The service was not running then.',
          scheduled_for: at(10),
          executed_at: null,
          count: 3,
          from: at(10),
          to: at(30),
        },
      ],
    })
  })

  it('while the agent is paused, as one entry', async () => {
    const agent = await stage.agent()
    const id = await agent.create({ type: 'cron', cron_expression: '* * * * *' })
    await agent.setAgent({ status: 'paused' })
    for (let n = 0; n < 3; n += 1) await stage.pass(minute)
    await agent.setAgent({ status: 'active' })
    await stage.pass(minute)
    expect(agent.received()).toHaveLength(1)
    expect(await agent.get(id)).toMatchObject({
      executions: [{ status: 'success' }, { status: 'missed', count: 3, error: 'The agent was not active.' }],
    })
  })

  it('while the one before runs, unless they queue', async () => {
    const [agent, queueing] = [await stage.agent(), await stage.agent()]
    const cron = { type: 'cron', cron_expression: '* * * * *' }
    stage.answer.status = 503
    const id = await agent.create(cron)
    const queued = await queueing.create({ ...cron, overlap: 'queue' })
    await stage.pass(minute)
    expect((await agent.get(id)).current).toMatchObject([{ status: 'running', error: null }])
    expect(await agent.run(id)).toMatchObject({ status: 409 })
    // The second attempt fails, too.
    await stage.pass(minute)
    expect(await agent.get(id)).toMatchObject({
      current: [{ status: 'running' }],
      executions: [{ status: 'missed', count: 1, error: 'The one before was still running.' }],
    })
    expect((await queueing.get(queued)).current).toMatchObject([
      { status: 'queued', executed_at: null },
      { status: 'running' },
    ])
    stage.answer.status = 200
    await stage.pass(30 * second)
    const statuses = async (schedule: string) =>
      (await (schedule === id ? agent : queueing).get(schedule)).executions.map(({ status }) => status)
    await eventually(async () => expect(await statuses(id)).toEqual(['missed', 'success']))
    await eventually(async () => expect(await statuses(queued)).toEqual(['success', 'success']))
    const keys = queueing.received().map(({ headers }) => headers['idempotency-key'])
    expect(new Set(keys).size).toBe(2)
  })
})

describe('a callback', () => {
  it('that fails is an error in the history, with its reason', async () => {
    const agent = await stage.agent()
    const id = await agent.create({ type: 'delayed', delay_seconds: 1 })
    stage.answer.status = 404
    await stage.pass(second)
    stage.answer.status = 200
    expect((await agent.get(id)).executions).toMatchObject([
      { status: 'error', error: 'The receiver answered with status 404.' },
    ])
  })

  it('of a chat asks in a conversation of the schedule’s own', async () => {
    const agent = await stage.agent()
    const chat = { callback_type: 'chat', callback_data: { content: 'What is new?' } }
    const id = await agent.create({ type: 'cron', cron_expression: '* * * * *', ...chat })
    await stage.pass(minute)
    await stage.pass(minute)
    const path = `/api/agents/${agent.agentId}/chat?conversationId=${id}`
    const { body } = await stage.app.call<{ messages: unknown[] }>('GET', path)
    expect(body).toMatchObject({
      messages: [
        { role: 'user', content: 'What is new?', created_by: `schedule:${id}` },
        { role: 'assistant' },
        { role: 'user', content: 'What is new?' },
        { role: 'assistant' },
      ],
    })
    const { executions } = await agent.get(id)
    expect(executions).toMatchObject([{ status: 'success' }, { status: 'success' }])
    // So that one that is interrupted finds its question.
    const asked = executions.map(execution => expect.objectContaining({ id: execution.id, role: 'user' }))
    expect(body.messages).toEqual(expect.arrayContaining(asked))
  })

  it('of a workflow runs it with the schedule as input, and tells how it ended', async () => {
    const agent = await stage.agent()
    const { create, reached, waiting } = agent.workflows
    const workflow = await create(
      { start: { type: 'trigger' }, pause: { type: 'wait', approval: 'Go on?' } },
      ['start > pause'],
    )
    const callback = { callback_type: 'workflow', callback_id: workflow, callback_data: { n: 1 } }
    const id = await agent.create({ name: 'W', type: 'cron', cron_expression: '* * * * *', ...callback })
    await stage.pass(minute - (stage.clock.now() % minute))
    const { current } = await agent.get(id)
    expect(current).toMatchObject([{ status: 'running', scheduled_for: now() }])
    const execution = current[0]?.workflow_execution_id ?? ''
    await waiting(execution, 'pause')
    expect((await agent.workflows.get(execution)).body).toMatchObject({
      cause: { kind: 'schedule', ref: id },
      input: { n: 1, schedule: { id, name: 'W', scheduled_for: now() } },
    })
    await stage.pass(minute)
    expect(await agent.get(id)).toMatchObject({
      executions: [{ status: 'missed', error: 'The workflow was still running.' }],
    })
    const executions = `/api/agents/${agent.agentId}/workflows/executions`
    await stage.app.call('POST', `${executions}/${execution}/terminate`)
    await reached(execution, 'terminated')
    await stage.pass(0)
    expect(await agent.get(id)).toMatchObject({
      current: [],
      executions: [{ status: 'missed' }, { status: 'error', error: 'The workflow was terminated.' }],
    })
    await stage.app.call('DELETE', `/api/agents/${agent.agentId}/workflows/${workflow}`)
    await stage.pass(minute)
    expect((await agent.get(id)).executions[0]).toMatchObject({
      status: 'missed',
      error: 'The workflow was deleted.',
    })
  })

  it('of a workflow that queues waits for the one before', async () => {
    const agent = await stage.agent()
    const workflow = await agent.workflows.create({ start: { type: 'trigger' } }, [])
    const callback = { callback_type: 'workflow', callback_id: workflow, overlap: 'queue' }
    const id = await agent.create({ type: 'delayed', delay_seconds: 1, ...callback })
    expect(await agent.run(id)).toMatchObject({ status: 200 })
    expect(await agent.run(id)).toMatchObject({ status: 200 })
    await stage.pass(0)
    expect((await agent.get(id)).executions).toMatchObject([{ status: 'success' }, { status: 'success' }])
  })

  it('keeps the last 100 outcomes', async () => {
    const agent = await stage.agent()
    const id = await agent.create({ type: 'delayed', delay_seconds: 60, status: 'paused', overlap: 'queue' })
    for (let n = 0; n < 103; n += 1) await agent.run(id)
    await stage.pass(0)
    await eventually(() => expect(agent.received()).toHaveLength(103))
    await stage.pass(minute)
    await agent.run(id)
    await stage.pass(0)
    const { executions, last_run } = await agent.get(id)
    expect(executions).toHaveLength(100)
    expect(executions[0]).toMatchObject({ status: 'success', executed_at: last_run })
  })
})
