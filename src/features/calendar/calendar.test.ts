import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorRow, row } from '#test/spec/row.ts'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { passTime } from '#test/support/pass-time.ts'
import { seededRandom } from '#test/support/random.ts'
import { zones } from '#test/support/wall-clock-oracle.ts'
import { startWebhookReceiver } from '#test/support/webhook-receiver.ts'
import { workflowCalls } from '#test/support/workflows.ts'
import { formsOf } from '#test/support/written-times.ts'
import type { ListedTask, Task } from './calendar.schema.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const clock = manualClock()
let app: TestApp
let someCalendar: Awaited<ReturnType<typeof calendarOf>> | undefined

beforeAll(async () => {
  app = await buildApp({ environment: { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' }, clock })
})

afterAll(() => app.close())

const later = (milliseconds: number) => new Date(clock.now() + milliseconds).toISOString()
const pass = (milliseconds: number) => passTime(app, clock, milliseconds)

async function calendarOf() {
  const agentId = await makeAgent(app)
  const base = `/api/agents/${agentId}`
  const path = `${base}/calendar`
  return {
    agentId,
    base,
    path,
    workflows: workflowCalls(app, base),
    post: (fields: object) => app.call<Task>('POST', path, { body: { title: 'T', ...fields } }),
    async create(fields: object): Promise<string> {
      const { status, body } = await this.post(fields)
      expect({ status, body }).toMatchObject({ status: 201 })
      return body.id
    },
    get: async (id: string) => (await app.call<Task>('GET', `${path}/${id}`)).body,
    put: (id: string, body: object) => app.call<Task>('PUT', `${path}/${id}`, { body }),
    async list(query: string): Promise<ListedTask[]> {
      const { status, body } = await app.call<{ tasks: ListedTask[] }>('GET', `${path}?${query}`)
      expect({ status, body }).toMatchObject({ status: 200 })
      return body.tasks
    },
  }
}

const daily = { recurrence: 'daily', timezone: 'Europe/Berlin' }

describe('a task', () => {
  it(`is created, read, changed and deleted: ${errorRow('calendar', 404)}, ${row('POST /api/agents/{id}/calendar')}, ${row('GET /api/agents/{id}/calendar/{taskId}')}, ${row('PUT /api/agents/{id}/calendar/{taskId}')}, ${row('DELETE /api/agents/{id}/calendar/{taskId}')}`, async () => {
    const calendar = await calendarOf()
    const given = {
      title: 'Stand-up',
      description: 'Short.',
      start_time: '2027-06-01T09:00:00',
      end_time: '2027-06-01T09:15:00',
      timezone: 'Europe/Berlin',
      recurrence: 'weekly',
      recurrence_end: '2027-08-01',
      exceptions: ['2027-06-08'],
    }
    const created = await calendar.post(given)
    expect(created).toMatchObject({
      status: 201,
      body: {
        ...given,
        start_time: '2027-06-01T07:00:00.000Z',
        end_time: '2027-06-01T07:15:00.000Z',
        recurrence_end: '2027-08-01T21:59:59.999Z',
        recurrence_days: [2],
        workflow_id: null,
        status: 'pending',
        next_due: '2027-06-01T07:00:00.000Z',
        occurrences: [],
      },
    })
    const { id } = created.body
    expect(await calendar.get(id)).toEqual(created.body)
    const changes = { title: 'Sit-down', recurrence: 'daily', recurrence_end: null, end_time: null }
    expect(await calendar.put(id, changes)).toMatchObject({
      status: 200,
      body: { ...changes, recurrence_days: [], description: 'Short.', start_time: created.body.start_time },
    })
    expect(await calendar.put(id, { status: 'cancelled' })).toMatchObject({
      body: { status: 'cancelled', next_due: null },
    })
    expect(await app.call('DELETE', `${calendar.path}/${id}`)).toMatchObject({ body: { success: true } })
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect(
        await app.call(method, `${calendar.path}/${id}`, method === 'PUT' ? { body: { title: 'x' } } : {}),
      ).toMatchObject({ status: 404 })
  })

  it.each([
    [{ start_time: 'soon' }, 'start_time'],
    [{ start_time: '2027-02-30T00:00:00Z' }, 'start_time'],
    [{ end_time: '2026-12-31T00:00:00Z' }, 'end_time'],
    [{ timezone: '+02:00' }, 'timezone'],
    [{ recurrence: 'yearly' }, 'recurrence'],
    [{ recurrence: 'weekly', recurrence_days: [7] }, 'recurrence_days'],
    [{ recurrence: 'daily', recurrence_days: [1] }, 'recurrence_days'],
    [{ recurrence: 'daily', recurrence_end: '2026-12-31' }, 'recurrence_end'],
    [{ recurrence: 'daily', exceptions: ['tomorrow'] }, 'exceptions'],
    [{ start_time: '2027-06-07T09:00:00+01:00[Europe/Berlin]' }, 'start_time'],
    [{ start_time: '1969-06-07T09:00:00Z' }, 'years 1970 to 9998'],
    [{ start_time: '9999-06-07T09:00:00Z' }, 'years 1970 to 9998'],
    // A series has one time of the day, which its first day shows.
    [{ ...daily, start_time: '2027-03-28T02:30:00' }, 'clocks skip it'],
    [{ ...daily, start_time: '2027-10-31T02:30:00+01:00' }, 'write 2027-10-31T00:30:00.000Z'],
    [{ title: '' }, 'title'],
    [{ start_time: undefined }, 'start_time'],
  ])(`that is wrong is refused with the field: %j: ${errorRow('calendar', 400)}`, async (fields, field) => {
    const { status, body } = await (await calendarOf()).post({
      start_time: '2027-01-01T00:00:00Z',
      ...fields,
    })
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain(field)
  })

  it('begins at the instant that is written, or in its zone without an offset', async () => {
    const calendar = await calendarOf()
    const timezone = 'Asia/Kolkata'
    const written = [
      ...[
        '2027-06-07T09:30:00',
        '2027-06-07 09:30',
        '20270607T0930',
        '2027-06-06T24:00-04',
        '2027-06-07 06:00:00 +0200',
      ],
      ...[
        '2027-06-07T06:00:00+02:00:00[Europe/Berlin]',
        '2027-06-07T00:00:00[America/New_York][u-ca=gregory]',
      ],
    ]
    for (const start_time of written) {
      const { body } = await calendar.post({ start_time, end_time: start_time, timezone })
      expect([body.start_time, body.end_time], start_time).toEqual(Array(2).fill('2027-06-07T04:00:00.000Z'))
    }
    const id = await calendar.create({ start_time: written[0], timezone, recurrence: 'daily' })
    const given = { occurrence: '2027-06-09T06:00+02[Europe/Berlin]', status: 'cancelled' }
    expect(await calendar.put(id, given)).toMatchObject({ status: 200 })
    expect(await calendar.list('start=2027-06-09T03:59Z&end=2027-06-09 06:01:00 02')).toMatchObject(
      [given].map(({ status }) => ({ status })),
    )
  })

  it('begins at any instant, in any of its forms', async () => {
    const calendar = await calendarOf()
    const random = seededRandom(37)
    for (let count = 0; count < 40; count += 1) {
      const instant = Math.floor((random.next() * Date.UTC(2100, 0)) / 1000) * 1000
      const start_time = random.pick(
        formsOf(instant, random.pick(zones), random.pick(['', '25', '250000000'])),
      )
      const { body } = await calendar.post({ start_time, timezone: random.pick(zones) })
      const milliseconds = /[.,]25/.test(start_time) ? 250 : 0
      expect(body.start_time, start_time).toBe(new Date(instant + milliseconds).toISOString())
    }
  })

  it('names a workflow of its agent', async () => {
    const [calendar, other] = [await calendarOf(), await calendarOf()]
    const workflow_id = await other.workflows.create({ start: { type: 'trigger' } }, [])
    expect(await calendar.post({ start_time: later(hour), workflow_id })).toMatchObject({ status: 404 })
    const id = await calendar.create({ start_time: later(hour) })
    expect(await calendar.put(id, { workflow_id })).toMatchObject({ status: 404 })
  })
})

describe('the list', () => {
  it(`has tasks, or the occurrences in a range: ${row('GET /api/agents/{id}/calendar')}`, async () => {
    const calendar = await calendarOf()
    const range = 'start=2027-01-01&end=2027-03-31'
    const series = await calendar.create({
      title: 'Monthly',
      start_time: '2026-12-31T10:00:00Z',
      end_time: '2026-12-31T11:00:00Z',
      recurrence: 'monthly',
    })
    await calendar.create({ title: 'Once', start_time: '2027-02-01T10:00:00Z', description: 'Long ago' })
    await calendar.create({ title: 'Elsewhere', start_time: '2028-01-01T10:00:00Z' })
    await calendar.create({
      title: 'Reaching in',
      start_time: '2026-12-30T00:00:00Z',
      end_time: '2027-01-02T00:00:00Z',
    })
    expect((await calendar.list('')).map(({ title }) => title)).toEqual([
      'Reaching in',
      'Monthly',
      'Once',
      'Elsewhere',
    ])
    const found = await calendar.list(range)
    expect(found.map(({ title, start_time }) => `${title} ${start_time.slice(0, 10)}`)).toEqual([
      'Reaching in 2026-12-30',
      'Monthly 2027-01-31',
      'Once 2027-02-01',
      'Monthly 2027-02-28',
      'Monthly 2027-03-31',
    ])
    expect(found[3]).toMatchObject({ id: series, end_time: '2027-02-28T11:00:00.000Z', status: 'pending' })
    expect(
      (await calendar.list(`${range}&search=month&limit=2&offset=1`)).map(({ start_time }) => start_time),
    ).toEqual(['2027-02-28T10:00:00.000Z', '2027-03-31T10:00:00.000Z'])
    expect(await calendar.list('start=2027-02-01')).toHaveLength(2)
    expect(await calendar.list('end=2027-02-27T00:00:00Z')).toHaveLength(2)
    expect(await calendar.list(`${range}&sort=title&order=desc`)).toHaveLength(5)
  })

  it.each(['start=soon', 'start=2027-01-01&end=2026-01-01', 'start=2026-01-01&end=2027-02-01'])(
    'refuses a range that is none, or too long: %s',
    async query => {
      someCalendar ??= await calendarOf()
      expect(await app.call('GET', `${someCalendar.path}?${query}`)).toMatchObject({ status: 400 })
    },
  )

  it('refuses more than 1,000 occurrences', async () => {
    const calendar = await calendarOf()
    for (let n = 0; n < 3; n += 1) await calendar.create({ start_time: later(hour), recurrence: 'daily' })
    const { status, body } = await app.call('GET', `${calendar.path}?start=2027-01-01&end=2027-12-31`)
    expect({ status, body }).toMatchObject({ status: 400, body: { error: { details: { field: 'end' } } } })
  })
})

describe('when its time comes, a task', () => {
  it('without a workflow tells subscribers, and waits for a person', async () => {
    const calendar = await calendarOf()
    await using receiver = await startWebhookReceiver()
    const webhook = { url: receiver.url, events: ['task.due'] }
    await app.call('POST', `${calendar.base}/webhooks`, { body: webhook })
    const times = { start_time: later(hour), end_time: later(2 * hour) }
    const id = await calendar.create({ title: 'Call Ada', ...times })
    await pass(hour - minute)
    expect(receiver.received).toEqual([])
    await pass(minute)
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
      type: 'task.due',
      data: { task_id: id, title: 'Call Ada', ...times, workflow_execution_id: null },
    })
    expect(await calendar.get(id)).toMatchObject({ status: 'pending', next_due: null })
    await calendar.put(id, { status: 'completed' })
    await pass(day)
    expect(receiver.received).toHaveLength(1)
    expect(await calendar.get(id)).toMatchObject({ status: 'completed' })
  })

  it('runs its workflow, and has its outcome', async () => {
    const calendar = await calendarOf()
    const workflow_id = await calendar.workflows.create(
      { start: { type: 'trigger' }, sum: { type: 'code', code: 'return args.input.task.title' } },
      ['start > sum'],
    )
    const start_time = later(hour)
    const id = await calendar.create({ title: 'Run', start_time, workflow_id })
    await pass(hour)
    const completed = { starts_at: start_time, status: 'completed' }
    // The end of an execution is told by a job of its own.
    await eventually(async () =>
      expect(await calendar.get(id)).toMatchObject({ status: 'completed', occurrences: [completed] }),
    )
    const execution = (await calendar.get(id)).occurrences[0]?.workflow_execution_id ?? ''
    expect((await calendar.workflows.get(execution)).body).toMatchObject({
      cause: { kind: 'calendar', ref: id },
      input: { task: { id, title: 'Run', start_time, end_time: null } },
    })
    await calendar.put(id, { start_time: later(hour) })
    await app.call('DELETE', `${calendar.base}/workflows/${workflow_id}`)
    await pass(hour)
    const failed = { status: 'failed', error: 'The workflow was deleted.' }
    await eventually(async () =>
      expect(await calendar.get(id)).toMatchObject({ status: 'failed', occurrences: [failed, completed] }),
    )
  })

  it('has a status for each occurrence', async () => {
    const calendar = await calendarOf()
    const workflow_id = await calendar.workflows.create({ start: { type: 'trigger' } }, [])
    const first = later(hour)
    const id = await calendar.create({ start_time: first, recurrence: 'daily', workflow_id })
    const at = (n: number) => new Date(Date.parse(first) + n * day).toISOString()
    expect(await calendar.put(id, { occurrence: at(1), status: 'cancelled' })).toMatchObject({ status: 200 })
    expect(await calendar.put(id, { occurrence: later(0), status: 'cancelled' })).toMatchObject({
      status: 400,
    })
    expect(await calendar.put(id, { occurrence: at(1), title: 'x' })).toMatchObject({ status: 400 })
    // One that was cancelled by mistake takes place after all.
    for (const status of ['cancelled', 'pending'])
      expect(await calendar.put(id, { occurrence: at(0), status })).toMatchObject({ status: 200 })
    await pass(hour)
    await pass(day)
    await app.call('PUT', `/api/agents/${calendar.agentId}`, { body: { status: 'paused' } })
    await pass(day)
    await app.call('PUT', `/api/agents/${calendar.agentId}`, { body: { status: 'active' } })
    // Two are missed, and the latest runs late.
    await pass(3 * day + hour)
    const listed = await calendar.list(`start=${first}&end=${at(6)}`)
    expect(listed.map(({ status }) => status)).toEqual([
      'completed',
      'cancelled',
      'failed',
      'failed',
      'failed',
      'completed',
      'pending',
    ])
    const { occurrences, status, next_due } = await calendar.get(id)
    expect({ status, next_due }).toEqual({ status: 'pending', next_due: at(6) })
    expect(occurrences.map(({ error }) => error)).toEqual([
      null,
      'The service was not running then.',
      'The service was not running then.',
      'The agent was not active.',
      null,
      null,
    ])
  })

  it('does nothing if it was moved, cancelled or deleted before', async () => {
    const calendar = await calendarOf()
    const workflow_id = await calendar.workflows.create({ start: { type: 'trigger' } }, [])
    const task = { start_time: later(hour), workflow_id }
    const [moved, cancelled, deleted] = [
      await calendar.create(task),
      await calendar.create(task),
      await calendar.create(task),
    ]
    await calendar.put(moved, { start_time: later(2 * hour) })
    await calendar.put(cancelled, { status: 'cancelled' })
    await app.call('DELETE', `${calendar.path}/${deleted}`)
    await pass(hour)
    const { body } = await app.call<{ executions: unknown[] }>('GET', `${calendar.base}/workflows/executions`)
    expect(body.executions).toEqual([])
    await pass(hour)
    expect(await calendar.get(moved)).toMatchObject({ status: 'completed' })
    expect(await calendar.get(cancelled)).toMatchObject({ status: 'cancelled', occurrences: [] })
  })
})

describe('the feed', () => {
  const read = (url: string, headers: Record<string, string> = {}) =>
    app.call<string>('GET', url.slice(url.indexOf('/api')), { headers })

  it('is read under its secret address, which is voided by a new one', async () => {
    const calendar = await calendarOf()
    const create = async () => (await app.call<{ url: string }>('POST', `${calendar.path}/feed`)).body.url
    await calendar.create({ title: 'Line; one, two\nthree', start_time: later(hour) })
    const url = await create()
    const feed = await read(url)
    expect(feed).toMatchObject({ status: 200, headers: { 'content-type': 'text/calendar; charset=utf-8' } })
    expect(feed.body).toContain('SUMMARY:Line\\; one\\, two\\nthree\r\n')
    const etag = String(feed.headers.etag)
    expect(await read(url, { 'if-none-match': etag })).toMatchObject({ status: 304 })
    await calendar.create({ start_time: later(hour) })
    expect((await read(url, { 'if-none-match': etag })).status).toBe(200)
    const next = await create()
    expect(await read(url)).toMatchObject({ status: 404 })
    expect(await read(next)).toMatchObject({ status: 200 })
    const other = await calendarOf()
    expect(await read(next.replace(calendar.agentId, other.agentId))).toMatchObject({ status: 404 })
    expect(await read(next.replace(calendar.agentId, 'nobody'))).toMatchObject({ status: 404 })
    await app.call('DELETE', `${calendar.path}/feed`)
    for (const address of [next, next.replace(/token=.*/, 'token='), next.replace(/\?.*/, '')])
      expect(await read(address)).toMatchObject({ status: 404 })
    const token = next.split('=')[1] ?? ''
    expect(app.logged.join('')).not.toContain(token)
  })
})
