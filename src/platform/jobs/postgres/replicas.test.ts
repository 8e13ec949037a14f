/** Several processes on one database, as far as jobs are concerned; the wake-ups and the runners are those of the service. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { openPostgresEngine } from '#test/support/job-engine.ts'
import { allLanes, createGate, type Gate, setJobStage } from '#test/support/job-stage.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { createTestDatabase } from '#test/support/postgres/databases.ts'
import { openPostgresStorage } from '#test/support/postgres/storage.ts'
import { type Clock, systemClock } from '../../clock.ts'
import { createLog } from '../../logging/log.ts'
import type { QueueDatabase } from './queue.ts'
import { createWakeUps } from './wake-ups.ts'

async function emptyDatabase(): Promise<string> {
  const database = await createTestDatabase()
  if (database === undefined) throw new Error('these tests need a server of PostgreSQL')
  onTestFinished(database.remove)
  return database.url
}

/** Three processes, opened at the same moment. */
async function openProcesses(clock: Clock = systemClock) {
  const url = await emptyDatabase()
  const open = () => openPostgresEngine(url, clock)
  return await Promise.all([open(), open(), open()])
}

/** The wake-ups of two processes. */
async function openTwo(clock: Clock = systemClock) {
  const [first, second] = await openProcesses(clock)
  const [here, there] = await Promise.all([first.newWakeUps(), second.newWakeUps()])
  return { here: here.documents, there: there.documents, engine: first }
}

test('processes that start together make the queue together, also when one is told that it is there already', async () => {
  const url = await emptyDatabase()
  const engines = await Promise.all([1, 2, 3].map(async () => (await openPostgresStorage(url)).engine))
  // What a server answers whose catalogue was changed while the statement waited for its lock.
  const refusals = [Object.assign(new Error('duplicate key value'), { code: '23505' })]
  const executeSql: QueueDatabase['executeSql'] = async (text, values) => {
    const refusal = text.includes('CREATE SCHEMA') ? refusals.pop() : undefined
    if (refusal !== undefined) throw refusal
    return (await engines[0]?.direct.executeSql(text, values)) ?? { rows: [] }
  }
  const opened = engines.map(async ({ direct }, n) => {
    const database = n === 0 ? { ...direct, executeSql } : direct
    const wakeUps = await createWakeUps({ database, clock: systemClock, log: createLog('silent') })
    onTestFinished(async () => {
      for (const each of Object.values(wakeUps)) await each.stop()
    })
    return wakeUps.documents
  })
  const [first, , third] = await Promise.all(opened)
  await first?.pull('a', systemClock.now())
  expect(await third?.take()).toBe('a')
  expect(refusals).toEqual([])
})

test('each of 300 jobs that come to three processes at once runs exactly once', async () => {
  const runs: unknown[] = []
  const handlers = { note: async ({ payload }: { payload: unknown }) => void runs.push(payload) }
  const engines = await openProcesses()
  const stages = await Promise.all(
    engines.map(engine => setJobStage(handlers, { clock: systemClock, engine })),
  )
  await Promise.all(stages.map(stage => stage.runner.start()))
  const jobs = Array.from({ length: 300 }, (_, number) => number)
  await Promise.all(
    jobs.map(number => stages[number % 3]?.add('note', { agent: number % 2 ? 'a' : 'b', payload: number })),
  )
  await eventually(() => expect(runs.length).toBeGreaterThanOrEqual(300))
  for (const stage of stages) await stage.runner.idle()
  expect(runs.toSorted((one, other) => Number(one) - Number(other))).toEqual(jobs)
  for (const stage of stages) expect(await stage.entries()).toEqual([])
})

test('the job of a process that gives no sign any more is run by another one', async () => {
  const runs: string[] = []
  const gate = createGate()
  const [first, second] = await openProcesses()
  const dying = await setJobStage(
    {
      wait: async () => {
        runs.push('first')
        await gate.pass()
      },
    },
    { clock: systemClock, engine: first, leaseMs: 1_000 },
  )
  await dying.runner.start()
  await dying.add('wait')
  await gate.reached
  // Its heart stops: the lease is extended no more, as of a process that was killed.
  const dead = { lease_holder: 'dead', lease_expires_at: new Date(systemClock.now() + 1_000).toISOString() }
  await dying.agentDatabases.use('a', ({ db }) => db.updateTable('outbox').set(dead).execute())
  for (const each of Object.values(dying.wakeUps)) await each.stop()

  const taking = await setJobStage(
    { wait: async () => void runs.push('second') },
    { clock: systemClock, engine: second },
  )
  await taking.runner.start()
  await eventually(() => expect(runs).toEqual(['first', 'second']))
  gate.open()
})

test('a wake-up that was taken and never settled comes back', async () => {
  const { here: dying, there: living } = await openTwo()
  await dying.pull('a', systemClock.now())
  expect(await dying.take()).toBe('a')
  expect(await living.take()).toBeUndefined()
  // Fifteen seconds at most by the server, and as much for a busy machine; unsupervised it would be more than a minute.
  await vi.waitFor(async () => expect(await living.take()).toBe('a'), { timeout: 30_000, interval: 200 })
})

test('a wake-up that is due wakes the other processes without their asking', async () => {
  const { here, there } = await openTwo()
  // The next question, three seconds later, is never asked.
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const onDue = vi.fn()
  await there.start(onDue, 0)
  const told = new Promise<void>(resolve => onDue.mockImplementation(resolve))
  await here.pull('a', systemClock.now())
  await told
})

test('what another process has stored for later is found by asking', async () => {
  const { here, there } = await openTwo()
  await here.pull('a', systemClock.now() + 500)
  const taken: string[] = []
  await there.start(async () => {
    const agentId = await there.take()
    if (agentId !== undefined) taken.push(agentId)
  }, 0)
  await eventually(() => expect(taken).toEqual(['a']))
})

test('an agent with much going on keeps a handful of wake-ups, and none when all is done', async () => {
  const clock = manualClock()
  const { here, there, engine } = await openTwo(clock)
  const processes = [here, there]
  let most = 0
  for (let look = 0; look < 100; look += 1) {
    for (const wakeUps of processes) {
      const announcement = await wakeUps.announce('a')
      await announcement.settle(clock.now())
      await wakeUps.pull('a', clock.now())
      if ((await wakeUps.take()) === 'a') await wakeUps.settle('a', clock.now() + 30_000)
    }
    clock.advance(100)
    most = Math.max(most, (await engine.allWakeUpRows()).length)
  }
  expect(most).toBeLessThanOrEqual(6)
  for (const wakeUps of processes) {
    await wakeUps.pull('a', clock.now())
    while ((await wakeUps.take()) === 'a') await wakeUps.settle('a', undefined)
  }
  clock.advance(60_000)
  for (const wakeUps of processes) while ((await wakeUps.take()) === 'a') await wakeUps.settle('a', undefined)
  expect(await engine.allWakeUpRows()).toEqual([])
})

test('news that come while an agent is looked into win over what the look found', async () => {
  const clock = manualClock()
  const { here: wakeUps, engine } = await openTwo(clock)
  const rows = async () => (await engine.wakeUpRows()).map(row => Date.parse(row.due_at) - clock.now())
  await wakeUps.pull('a', clock.now())
  expect(await wakeUps.take()).toBe('a')
  await wakeUps.pull('a', clock.now() + 1_000)
  await wakeUps.settle('a', undefined)
  expect(await rows()).toEqual([1_000])
  await wakeUps.pull('a', clock.now() + 400)
  await wakeUps.pull('a', clock.now() + 2_000)
  expect(await rows()).toEqual([400])
  clock.advance(400)
  expect(await wakeUps.take()).toBe('a')
  await wakeUps.settle('a', clock.now() + 500)
  expect(await rows()).toEqual([500])
})

test('no wake-up is taken while as many jobs run as may', async () => {
  const gates: Gate[] = []
  const wait = async () => {
    const gate = createGate()
    gates.push(gate)
    await gate.pass()
  }
  const [first] = await openProcesses()
  const stage = await setJobStage(
    { wait },
    { clock: systemClock, engine: first, limits: allLanes({ concurrency: 1, perAgent: 1 }) },
  )
  await stage.runner.start()
  await stage.add('wait')
  await eventually(() => expect(gates).toHaveLength(1))
  const take = vi.spyOn(stage.wakeUps.documents, 'take')
  await stage.add('wait', { agent: 'b' })
  await eventually(async () =>
    expect(await stage.wakeUpRows()).toContainEqual(expect.objectContaining({ agent_id: 'b' })),
  )
  expect(take).not.toHaveBeenCalled()
  gates[0]?.open()
  await eventually(() => expect(gates).toHaveLength(2))
  gates[1]?.open()
  await stage.runner.idle()
})
