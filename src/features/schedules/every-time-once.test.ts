import { expect, it, onTestFinished } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { scaled, seededRandom } from '#test/support/endurance.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { moveWakeUps, passTime } from '#test/support/pass-time.ts'
import { forgetStorage } from '#test/support/postgres/environment.ts'
import { firstAfter, look, type ModelSchedule, modelSchedule } from '#test/support/schedule-model.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { startWebhookReceiver } from '#test/support/webhook-receiver.ts'
import type { Schedule } from './schedules.schema.ts'

const steps = scaled(1_000)
const minute = 60_000
const expressions = ['*/10 * * * *', '0 * * * *', '30 1,2,3 * * *', '15,45 */2 * * *', '0 9 * * mon-fri']

it(`every time is run once or missed, whatever happens meanwhile (${steps} steps)`, async () => {
  const random = seededRandom(20_261_124)
  const pick = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)] as Value
  // Clocks in Berlin go forward on the second day.
  const clock = manualClock('2026-03-28T12:00:00.000Z')
  const dataDirectory = temporaryDirectory()
  await using receiver = await startWebhookReceiver()
  const environment = { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' }
  const build = () => buildApp({ environment, clock, dataDirectory })
  let app: TestApp = await build()
  onTestFinished(async () => {
    await app.close()
    await forgetStorage(dataDirectory)
  })
  const path = `/api/agents/${await makeAgent(app)}/schedules`
  const model = new Map<string, ModelSchedule>()
  const gone = new Map<string, ModelSchedule>()

  async function create(): Promise<void> {
    const now = clock.now()
    const expression = random() < 0.7 ? pick(expressions) : undefined
    const next = now + Math.ceil(random() * 300) * minute
    const when = expression === undefined ? { next } : { expression }
    const fields =
      expression === undefined
        ? { type: 'once', next_run: new Date(next).toISOString() }
        : { type: 'cron', cron_expression: expression, timezone: 'Europe/Berlin' }
    const callback = { callback_type: 'webhook', callback_data: { url: receiver.url } }
    const { status, body } = await app.call<Schedule>('POST', path, {
      body: { name: 'S', ...fields, ...callback },
    })
    expect({ status, body }).toMatchObject({ status: 201 })
    model.set(body.id, modelSchedule(now, when))
  }

  /** Changes one of the schedules that recur. */
  async function change(changes: (schedule: ModelSchedule) => object): Promise<void> {
    const recurring = [...model].filter(([, { expression }]) => expression !== undefined)
    if (recurring.length === 0) return
    const [id, schedule] = pick(recurring)
    const body = changes(schedule)
    expect(await app.call('PUT', `${path}/${id}`, { body })).toMatchObject({ status: 200 })
    schedule.next = schedule.isPaused ? undefined : firstAfter(schedule, clock.now())
  }

  async function remove(): Promise<void> {
    if (model.size === 0) return
    const [id, schedule] = pick([...model])
    await app.call('DELETE', `${path}/${id}`)
    model.delete(id)
    gone.set(id, schedule)
  }

  async function restart(downtime: number): Promise<void> {
    await app.close()
    clock.advance(downtime)
    await moveWakeUps(dataDirectory, downtime)
    app = await build()
    await passTime(app, clock, 0)
  }

  const edit = () =>
    change(schedule => {
      schedule.expression = pick(expressions)
      return { cron_expression: schedule.expression }
    })
  const pauseOrResume = () =>
    change(schedule => {
      schedule.isPaused = !schedule.isPaused
      return { status: schedule.isPaused ? 'paused' : 'active' }
    })
  const pass = (most: number, sign: 1 | -1 = 1) =>
    passTime(app, clock, sign * Math.ceil(random() * most) * minute)
  const actions: [weight: number, act: () => Promise<void>][] = [
    [10, () => pass(20)],
    [4, () => pass(400)],
    // The clock is set back.
    [2, () => pass(90, -1)],
    [4, create],
    [3, edit],
    [3, pauseOrResume],
    [1, remove],
    [1, () => restart(Math.ceil(random() * 200) * minute)],
  ]
  const chosen = actions.flatMap(([weight, act]) => Array.from({ length: weight }, () => act))
  for (let step = 0; step < steps; step += 1) {
    await pick(chosen)()
    for (const schedule of model.values()) look(schedule, clock.now())
  }
  await passTime(app, clock, 0)

  const runs = receiver.received.map(({ body }) => JSON.parse(body))
  const found = runs.map(({ schedule_id, scheduled_for }) => `${schedule_id} ${scheduled_for}`)
  const expected = [...model, ...gone].flatMap(([id, { run }]) =>
    [...run].map(time => `${id} ${new Date(time).toISOString()}`),
  )
  expect(found.toSorted()).toEqual(expected.toSorted())
  expect(found.length).toBeGreaterThan(steps / 4)
  const missed = [...model.values()].reduce((sum, schedule) => sum + schedule.missed, 0)
  expect(missed).toBeGreaterThan(0)
  for (const [id, schedule] of model) {
    const { body } = await app.call<Schedule>('GET', `${path}/${id}`)
    expect(body.next_run).toBe(schedule.next === undefined ? null : new Date(schedule.next).toISOString())
    const counted = body.executions.reduce(
      (sum, { status, count = 0 }) => sum + (status === 'missed' ? count : 0),
      0,
    )
    if (body.executions.length < 100) expect(counted).toBe(schedule.missed)
  }
})
