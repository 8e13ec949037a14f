import { expect, onTestFinished, test, vi } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { createGate, setJobStage } from '#test/support/job-stage.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { AppError } from '../errors.ts'
import type { AgentEvent, SharedEvent } from './events.ts'
import { JobYields } from './jobs.ts'

const second = 1_000
const fact = { name: 'colour', value: 'blue' }

test('a job and the change that causes it are there together, or neither is', async () => {
  const runs: unknown[] = []
  const stage = await setJobStage(
    { note: async ({ payload }) => void runs.push(payload) },
    { clock: manualClock() },
  )
  await stage.runner.start()
  await stage.agentDatabases.use('a', async agent => {
    const failing = stage.transact(agent, async (transaction, outbox) => {
      await transaction.insertInto('agent_facts').values(fact).execute()
      await outbox.add({ name: 'note', payload: 'undone' })
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    const result = await stage.transact(agent, async (transaction, outbox) => {
      await transaction.insertInto('agent_facts').values(fact).execute()
      await outbox.add({ name: 'note', payload: 'done' })
      return 'result'
    })
    expect(result).toBe('result')
  })
  await stage.runner.idle()
  expect(runs).toEqual(['done'])
})

test('before anything is committed a wake-up is written, so that a crash at any later moment loses nothing', async () => {
  const stage = await setJobStage({ note: async () => {} }, { clock: manualClock() })
  await stage.agentDatabases.use('a', agent =>
    stage.transact(agent, async (_transaction, outbox) => {
      expect(await stage.wakeUpRows()).toEqual([])
      await outbox.add({ name: 'note', payload: null })
      expect(await stage.allWakeUpRows()).toMatchObject([{ agent_id: 'a' }])
    }),
  )
})

test('a look in the middle of a slow transaction does not take its wake-up away', async () => {
  const clock = manualClock()
  const gate = createGate()
  const stage = await setJobStage({ note: async () => {} }, { clock })
  const { agentDatabases, transact } = stage
  const agent = await agentDatabases.acquire('a')
  // A connection of its own, so that the transaction does not hold the runner up.
  const { db } = await stage.openAgent('a')
  onTestFinished(() => db.destroy())
  const runner = await stage.newRunner('reader', {
    wakeUps: stage.wakeUps,
    agentDatabases: { use: (_id, work) => work({ ...agent, db }) },
  })
  await runner.start()
  const slow = transact(agent, async (_transaction, outbox) => {
    await outbox.add({ name: 'note', payload: null })
    await gate.pass()
  })
  await gate.reached
  clock.advance(6 * second)
  await runner.idle()
  const [wakeUp] = await stage.allWakeUpRows()
  expect(Date.parse(wakeUp?.due_at ?? '')).toBeGreaterThan(clock.now())
  gate.open()
  await slow
  await runner.idle()
  expect(await stage.wakeUpRows()).toEqual([])
  agent.release()
})

test('at most one job with a key waits or runs', async () => {
  const gate = createGate()
  const stage = await setJobStage({ wait: () => gate.pass() }, { clock: manualClock() })
  expect(await stage.add('wait', { key: 'k' })).toBe(true)
  expect(await stage.add('wait', { key: 'k' })).toBe(false)
  expect(await stage.add('wait', { key: 'k', agent: 'b' })).toBe(true)
  await stage.runner.start()
  await gate.reached
  expect(await stage.add('wait', { key: 'k' })).toBe(false)
  gate.open()
  await stage.runner.idle()
  expect(await stage.add('wait', { key: 'k' })).toBe(true)
})

test('a key is free again once its job has failed permanently', async () => {
  const fail = { maxAttempts: 1, run: () => Promise.reject(new Error('no')) }
  const stage = await setJobStage({ fail }, { clock: manualClock() })
  await stage.runner.start()
  await stage.add('fail', { key: 'k' })
  await stage.runner.idle()
  expect(await stage.add('fail', { key: 'k' })).toBe(true)
})

test('a job that is cancelled while it waits does not run', async () => {
  const runs: unknown[] = []
  const stage = await setJobStage({ note: async ({ key }) => void runs.push(key) }, { clock: manualClock() })
  await stage.add('note', { key: 'one' })
  await stage.add('note', { key: 'two' })
  expect(await stage.cancel('one')).toBe(true)
  expect(await stage.cancel('one')).toBe(false)
  await stage.runner.start()
  await stage.runner.idle()
  expect(runs).toEqual(['two'])
})

test('a job that is cancelled while it runs is aborted; its successor begins after its end', async () => {
  const steps: string[] = []
  const [first, ending] = [createGate(), createGate()]
  const stage = await setJobStage(
    {
      work: async ({ payload, signal }) => {
        steps.push(`begin ${payload}`)
        if (payload === 'new') return
        await first.pass(signal).catch(reason => steps.push(reason.reason))
        await ending.pass()
        steps.push(`end ${payload}`)
      },
    },
    { clock: manualClock() },
  )
  await stage.runner.start()
  await stage.add('work', { key: 'k', payload: 'old' })
  await first.reached
  await stage.agentDatabases.use('a', agent =>
    stage.transact(agent, async (_transaction, outbox) => {
      expect(await outbox.cancel('k')).toBe(true)
      expect(await outbox.add({ name: 'work', key: 'k', payload: 'new' })).toBe(true)
    }),
  )
  await ending.reached
  // The runner has looked for more work, and left the successor for later.
  const lookAgainAt = '2026-01-01T00:00:30.000Z'
  await eventually(async () => expect(await stage.wakeUpRows()).toMatchObject([{ due_at: lookAgainAt }]))
  ending.open()
  await stage.runner.idle()
  expect(steps).toEqual(['begin old', 'cancelled', 'end old', 'begin new'])
  expect(await stage.entries()).toEqual([])
})

test('a cancellation that is rolled back aborts nothing', async () => {
  const gate = createGate()
  const aborted: boolean[] = []
  const stage = await setJobStage(
    {
      wait: async ({ signal }) => {
        await gate.pass(signal)
        aborted.push(signal.aborted)
      },
    },
    { clock: manualClock() },
  )
  await stage.runner.start()
  await stage.add('wait', { key: 'k' })
  await gate.reached
  const failing = stage.agentDatabases.use('a', agent =>
    stage.transact(agent, async (_transaction, outbox) => {
      await outbox.cancel('k')
      throw new Error('changed my mind')
    }),
  )
  await expect(failing).rejects.toThrow('changed my mind')
  gate.open()
  await stage.runner.idle()
  expect(aborted).toEqual([false])
})

test('a job that is asked for begins once more, whatever it is doing', async () => {
  const clock = manualClock()
  const gates = [createGate(), createGate()]
  const run = vi.fn(async () => await gates[run.mock.calls.length - 1]?.pass())
  const stage = await setJobStage({ line: run }, { clock })
  await stage.add('line', { key: 'k', runAt: clock.now() + 3600 * second })
  await stage.runner.start()
  await stage.ensure('line', 'k')
  await stage.ensure('line', 'k')
  await gates[0]?.reached
  expect(await stage.entries()).toHaveLength(1)
  for (let times = 0; times < 2; times += 1) await stage.ensure('line', 'k')
  gates[0]?.open()
  await gates[1]?.reached
  expect(await stage.entries()).toHaveLength(1)
  gates[1]?.open()
  await stage.runner.idle()
  expect(run).toHaveBeenCalledTimes(2)
  expect(await stage.entries()).toEqual([])
  await stage.ensure('line', 'k')
  await stage.runner.idle()
  expect(run).toHaveBeenCalledTimes(3)
})

test.each([
  ['fails', () => new Error('not now')],
  ['waits for a later time', () => new JobYields({ until: Date.parse('2999-01-01') })],
  ['fails for good', () => new AppError('CONFLICT', 'never')],
])('a job that is asked for while it runs begins at once, also if that run %s', async (_end, error) => {
  const gate = createGate()
  const run = vi.fn(async () => {
    if (run.mock.calls.length > 1) return
    await gate.pass()
    throw error()
  })
  const stage = await setJobStage({ line: run }, { clock: manualClock() })
  await stage.runner.start()
  await stage.ensure('line', 'k')
  await gate.reached
  await stage.ensure('line', 'k')
  gate.open()
  await stage.runner.idle()
  expect(run).toHaveBeenCalledTimes(2)
  expect(await stage.entries()).toEqual([])
})

test('a job that was asked for while a run failed is asked for again like any other', async () => {
  const gates = [createGate(), createGate()]
  const ends = [
    async () => {
      await gates[0]?.pass()
      throw new Error('not now')
    },
    async () => {
      throw new JobYields()
    },
    async () => await gates[1]?.pass(),
  ]
  const clock = manualClock()
  const run = vi.fn(async () => await ends[run.mock.calls.length - 1]?.())
  const stage = await setJobStage({ line: run }, { clock })
  await stage.runner.start()
  await stage.ensure('line', 'k')
  await gates[0]?.reached
  await stage.ensure('line', 'k')
  gates[0]?.open()
  await stage.runner.idle()
  clock.advance(second)
  const idle = stage.runner.idle()
  await gates[1]?.reached
  await stage.ensure('line', 'k')
  gates[1]?.open()
  await idle
  await stage.runner.idle()
  expect(run).toHaveBeenCalledTimes(4)
})

interface Handled {
  event: AgentEvent
  jobId: string
}

/** Subscriptions of agent `a`, of two kinds that have handlers. */
async function setEventStage(handle: (handled: Handled) => void) {
  const clock = manualClock()
  const handler = {
    lane: 'deliveries' as const,
    handle: async (event: AgentEvent, { jobId }: { jobId: string }) => handle({ event, jobId }),
  }
  const eventHandlers = { webhook: handler, trigger: { ...handler, lane: 'executions' as const } }
  const stage = await setJobStage({}, { clock, eventHandlers })
  const subscribe = (kind: string, ref: string, event = 'note.created') =>
    stage.agentDatabases.use('a', ({ db }) =>
      db.insertInto('event_subscriptions').values({ event, kind, ref }).execute(),
    )
  const emit = (agentId = 'a') =>
    stage.agentDatabases.use(agentId, agent =>
      stage.transact(agent, (_, outbox) => outbox.emit('note.created', { note: 'first' })),
    )
  return { ...stage, clock, subscribe, emit }
}

test('an event becomes one job for each subscription, so that the failure of one repeats nothing of another', async () => {
  const handled: Handled[] = []
  const stage = await setEventStage(({ event, jobId }) => {
    handled.push({ event, jobId })
    if (event.ref === 'broken' && handled.length <= 3) throw new Error('not now')
  })
  await stage.subscribe('webhook', 'broken')
  await stage.subscribe('webhook', 'sound')
  await stage.subscribe('trigger', 'workflow')
  await stage.subscribe('webhook', 'other', 'note.deleted')
  await stage.emit()
  expect(handled).toEqual([])
  const entries = await stage.entries()
  expect(entries.map(({ name, lane }) => [name, lane]).toSorted()).toEqual([
    ['event:trigger', 'executions'],
    ['event:webhook', 'deliveries'],
    ['event:webhook', 'deliveries'],
  ])
  const time = stage.clock.now()
  await stage.runner.start()
  await stage.runner.idle()
  expect(handled.map(({ event }) => event.ref).toSorted()).toEqual(['broken', 'sound', 'workflow'])
  expect(await stage.entries()).toMatchObject([{ name: 'event:webhook', failures: 1 }])

  stage.clock.advance(2 * second)
  await stage.runner.idle()
  const ofBroken = handled.filter(({ event }) => event.ref === 'broken')
  expect(handled).toHaveLength(4)
  expect(ofBroken).toHaveLength(2)
  expect(ofBroken[1]).toEqual(ofBroken[0])
  expect(new Set(handled.map(({ event }) => event.id)).size).toBe(1)
  expect(new Set(handled.map(({ jobId }) => jobId)).size).toBe(3)
  expect(handled[0]?.event).toMatchObject({ name: 'note.created', time, payload: { note: 'first' } })
  expect(await stage.entries()).toEqual([])
})

test('an event becomes one job for all subscriptions of a kind that shares it', async () => {
  const handled: unknown[] = []
  const handle = async ({ refs }: SharedEvent) => void handled.push(refs)
  const shared = { lane: 'deliveries' as const, isShared: true as const, handle }
  const stage = await setJobStage({}, { clock: manualClock(), eventHandlers: { shared } })
  await stage.agentDatabases.use('a', async agent => {
    const rows = ['two', 'one'].map(ref => ({ event: 'note.created', kind: 'shared', ref }))
    await agent.db.insertInto('event_subscriptions').values(rows).execute()
    await stage.transact(agent, (_, outbox) => outbox.emit('note.created', { note: 'first' }))
  })
  await stage.runner.start()
  await stage.runner.idle()
  expect(handled).toEqual([['one', 'two']])
})

test('a subscription to all events gets each once, also beside one that names it', async () => {
  const handled: Handled[] = []
  const stage = await setEventStage(one => {
    handled.push(one)
  })
  for (const event of ['*', 'note.created', 'note.deleted']) await stage.subscribe('webhook', 'both', event)
  await stage.subscribe('webhook', 'all', '*')
  await stage.emit()
  await stage.runner.start()
  await stage.runner.idle()
  expect(handled.map(({ event }) => event.ref).toSorted()).toEqual(['all', 'both'])
})

test('an event is stored only for an agent that has subscribed to it, as its transaction sees it', async () => {
  const stage = await setEventStage(() => {})
  await stage.subscribe('webhook', 'hook')
  await stage.emit('b')
  expect(await stage.entries('b')).toEqual([])
  expect(await stage.allWakeUpRows()).toEqual([])
  await stage.agentDatabases.use('a', agent =>
    stage.transact(agent, async (transaction, outbox) => {
      await transaction.deleteFrom('event_subscriptions').execute()
      await outbox.emit('note.created', { note: 'second' })
    }),
  )
  expect(await stage.entries()).toEqual([])
})
