import { describe, expect, test } from 'vitest'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { eventually } from '#test/support/eventually.ts'
import { allLanes, createGate, setJobStage } from '#test/support/job-stage.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { systemClock } from '../clock.ts'
import { currentOwner } from '../current-owner.ts'
import { type Disk, storageFull } from '../disk.ts'
import { AppError, notFound } from '../errors.ts'
import { createLog } from '../logging/log.ts'
import { type JobContext, JobYields } from './jobs.ts'
import { findDue, leaseFound } from './leasing.ts'

type Context = JobContext<AgentHandle>

const second = 1_000

test('a job runs after the commit, with its payload and agent, and leaves nothing behind', async () => {
  const runs: unknown[] = []
  const stage = await setJobStage(
    { greet: async ({ agent, payload, key }) => void runs.push([agent.agentId, payload, key]) },
    { clock: manualClock() },
  )
  await stage.runner.start()
  await stage.add('greet', { agent: 'b', payload: { name: 'Ann' }, key: 'greet:ann' })
  await stage.runner.idle()
  expect(runs).toEqual([['b', { name: 'Ann' }, 'greet:ann']])
  expect(await stage.entries('b')).toEqual([])
  expect(await stage.wakeUpRows()).toEqual([])
})

test('a job works in the name of its agent', async () => {
  const owners: unknown[] = []
  const stage = await setJobStage(
    { note: async () => void owners.push(currentOwner.getStore()) },
    { clock: manualClock() },
  )
  await stage.runner.start()
  await stage.add('note', { agent: 'b' })
  await stage.runner.idle()
  expect(owners).toEqual(['b'])
})

test('what was added before the start runs, and what waits for its time only then', async () => {
  const runs: unknown[] = []
  const clock = manualClock()
  const stage = await setJobStage({ note: async ({ payload }) => void runs.push(payload) }, { clock })
  await stage.add('note', { payload: 'now' })
  await stage.add('note', { payload: 'later', runAt: clock.now() + 3_600 * second })
  await stage.runner.start()
  await stage.runner.idle()
  clock.advance(3_599 * second)
  await stage.runner.idle()
  expect(runs).toEqual(['now'])
  expect(await stage.wakeUpRows()).toEqual([{ agent_id: 'a', due_at: '2026-01-01T01:00:00.000Z' }])
  clock.advance(second)
  await stage.runner.idle()
  expect(runs).toEqual(['now', 'later'])
  expect(await stage.wakeUpRows()).toEqual([])
})

test('what waits for its turn runs in time though the clock was set back meanwhile', async () => {
  const runs: unknown[] = []
  const clock = manualClock()
  const gate = createGate()
  const stage = await setJobStage(
    {
      async note({ payload }) {
        await gate.pass()
        runs.push(payload)
      },
    },
    { clock, limits: allLanes({ concurrency: 1, perAgent: 1 }) },
  )
  await stage.add('note', { payload: 'running' })
  clock.advance(1)
  await stage.add('note', { payload: 'waiting' })
  await stage.add('note', { payload: 'later', runAt: clock.now() + second })
  await stage.runner.start()
  await gate.reached
  clock.advance(-3_600 * second)
  gate.open()
  await stage.runner.idle()
  expect(runs).toEqual(['running', 'waiting'])
})

test('by the real clock, a job runs by itself when its time has come', async () => {
  const gate = createGate()
  const stage = await setJobStage({ ring: () => gate.pass() }, { clock: systemClock })
  await stage.runner.start()
  const runAt = systemClock.now() + 50
  await stage.add('ring', { runAt })
  await gate.reached
  expect(systemClock.now()).toBeGreaterThanOrEqual(runAt)
  gate.open()
})

test("a mistake of the user's is not tried again, what may pass by itself is", async () => {
  const runs: string[] = []
  const recorded: string[] = []
  const onFailed = async (_context: Context, error: string) => void recorded.push(error)
  const failWith = (error: AppError) => ({
    onFailed,
    run: async () => {
      runs.push(error.code)
      throw error
    },
  })
  const stage = await setJobStage(
    {
      misconfigured: failWith(new AppError('MODEL_NOT_CONFIGURED', 'Set a key.')),
      unlucky: failWith(new AppError('MODEL_ERROR', 'Overloaded.')),
    },
    { clock: manualClock() },
  )
  await stage.runner.start()
  await stage.add('misconfigured')
  await stage.add('unlucky')
  await stage.runner.idle()
  expect(runs.toSorted()).toEqual(['MODEL_ERROR', 'MODEL_NOT_CONFIGURED'])
  expect(recorded).toEqual(['Set a key.'])
  const entries = await stage.entries()
  expect(entries.find(({ name }) => name === 'misconfigured')).toMatchObject({
    failures: 1,
    failed_at: '2026-01-01T00:00:00.000Z',
  })
  expect(entries.find(({ name }) => name === 'unlucky')).toMatchObject({ failures: 1, failed_at: null })
})

test('a job that failed permanently stays for 30 days and goes when the next one does, so that no outbox grows for ever', async () => {
  const clock = manualClock()
  const day = 24 * 3_600 * second
  const refuse = async () => Promise.reject(new AppError('MODEL_NOT_CONFIGURED', 'Set a key.'))
  const stage = await setJobStage({ first: refuse, second: refuse, third: refuse }, { clock })
  await stage.runner.start()
  const names = async (name: string) => {
    await stage.add(name)
    await stage.runner.idle()
    return (await stage.entries()).map(entry => entry.name)
  }
  expect(await names('first')).toEqual(['first'])
  clock.advance(30 * day)
  expect((await names('second')).toSorted()).toEqual(['first', 'second'])
  clock.advance(second)
  expect((await names('third')).toSorted()).toEqual(['second', 'third'])
})

test('a failing job is tried again after growing pauses, then fails permanently, which is recorded', async () => {
  const clock = manualClock()
  const runs: number[] = []
  const recorded: string[] = []
  const stage = await setJobStage(
    {
      fail: {
        run: async () => {
          runs.push(clock.now())
          throw new Error(`failure ${runs.length}`)
        },
        onFailed: async (_context, error) => void recorded.push(error),
      },
    },
    { clock },
  )
  const start = clock.now()
  await stage.runner.start()
  await stage.add('fail')
  for (let seconds = 0; seconds <= 200; seconds++) {
    await stage.runner.idle()
    clock.advance(second)
  }
  expect(runs.map(time => (time - start) / second)).toEqual([0, 1, 5, 21, 85])
  expect(recorded).toEqual(['failure 5'])
  const [entry] = await stage.entries()
  expect(entry).toMatchObject({
    failures: 5,
    last_error: 'failure 5',
    failed_at: '2026-01-01T00:01:25.000Z',
    lease_holder: null,
  })
  expect(await stage.wakeUpRows()).toEqual([])
})

test('a handler decides how often it is tried, and success ends the trying', async () => {
  const clock = manualClock()
  const runs: string[] = []
  const stage = await setJobStage(
    {
      once: {
        maxAttempts: 1,
        run: async () => {
          runs.push('once')
          throw new Error('no')
        },
      },
      second: async () => {
        runs.push('second')
        if (runs.length < 3) throw new Error('not yet')
      },
    },
    { clock, limits: allLanes({ concurrency: 4, perAgent: 1 }) },
  )
  await stage.runner.start()
  await stage.add('once', { runAt: clock.now() - 1 })
  await stage.add('second')
  await stage.runner.idle()
  clock.advance(100 * second)
  await stage.runner.idle()
  expect(runs).toEqual(['once', 'second', 'second'])
  expect(await stage.entries()).toMatchObject([{ name: 'once', failures: 1 }])
})

test('recording a failure is repeated until it succeeds, without running the job again', async () => {
  const clock = manualClock()
  const calls: string[] = []
  const stage = await setJobStage(
    {
      fail: {
        maxAttempts: 1,
        run: async () => {
          calls.push('run')
          throw new Error('broken')
        },
        onFailed: async (_context, error) => {
          calls.push(`recorded ${error}`)
          if (calls.length < 3) throw new Error('not recorded')
        },
      },
    },
    { clock },
  )
  await stage.runner.start()
  await stage.add('fail')
  await stage.runner.idle()
  expect((await stage.entries())[0]?.failed_at).toBeNull()
  clock.advance(100 * second)
  await stage.runner.idle()
  expect(calls).toEqual(['run', 'recorded broken', 'recorded broken'])
  expect((await stage.entries())[0]?.failed_at).not.toBeNull()
})

test('a job without a handler fails like any other', async () => {
  const stage = await setJobStage({}, { clock: manualClock() })
  await stage.runner.start()
  await stage.add('unknown')
  await stage.runner.idle()
  expect(await stage.entries()).toMatchObject([{ last_error: 'there is no handler for jobs named unknown' }])
})

test('no more jobs run at a time than allowed, of one agent and in all, and no agent starves another', async () => {
  const gates = new Map<string, ReturnType<typeof createGate>>()
  const begun: string[] = []
  const stage = await setJobStage(
    {
      wait: async ({ payload }) => {
        begun.push(String(payload))
        const gate = createGate()
        gates.set(String(payload), gate)
        await gate.pass()
      },
    },
    { clock: systemClock, limits: allLanes({ concurrency: 3, perAgent: 2 }) },
  )
  for (const number of [1, 2, 3, 4]) await stage.add('wait', { payload: `a${number}`, runAt: number })
  for (const number of [1, 2]) await stage.add('wait', { agent: 'b', payload: `b${number}`, runAt: number })
  await stage.runner.start()
  await eventually(() => expect(begun).toHaveLength(3))
  expect(begun.toSorted()).toEqual(['a1', 'a2', 'b1'])

  gates.get('a1')?.open()
  await eventually(() => expect(begun).toHaveLength(4))
  expect(begun.at(-1)).toBe('b2')

  for (const name of ['a2', 'b1', 'b2']) gates.get(name)?.open()
  await eventually(() => expect(begun).toHaveLength(6))
  for (const gate of gates.values()) gate.open()
  await stage.runner.idle()
  expect(begun.slice(4)).toEqual(['a3', 'a4'])
})

test('while a job runs its lease is extended, and its wake-up stays for the case of a crash', async () => {
  const gate = createGate()
  const stage = await setJobStage({ wait: () => gate.pass() }, { clock: systemClock, leaseMs: 300 })
  await stage.runner.start()
  await stage.add('wait')
  await gate.reached
  const expiry = async () => (await stage.entries())[0]?.lease_expires_at ?? ''
  const first = await expiry()
  await eventually(async () => expect((await expiry()) > first).toBe(true))
  const [wakeUp] = await stage.wakeUpRows()
  expect(wakeUp?.agent_id).toBe('a')
  gate.open()
  await stage.runner.idle()
  expect(await stage.wakeUpRows()).toEqual([])
})

test('a lease that looks expired does not make its own holder run the job twice', async () => {
  const clock = manualClock()
  const gate = createGate()
  const runs: string[] = []
  const stage = await setJobStage(
    {
      wait: async () => {
        runs.push('wait')
        await gate.pass()
      },
      note: async () => void runs.push('note'),
    },
    { clock, limits: allLanes({ concurrency: 4, perAgent: 3 }) },
  )
  await stage.runner.start()
  await stage.add('wait')
  await gate.reached
  // As after the machine has slept: no lease was extended.
  clock.advance(31 * second)
  await stage.add('note')
  await eventually(async () => expect(await stage.entries()).toHaveLength(1))
  gate.open()
  await stage.runner.idle()
  expect(runs).toEqual(['wait', 'note'])
})

test('a job that another process has taken over is aborted, and its entry left to the other', async () => {
  const gate = createGate()
  const reasons: unknown[] = []
  const wait = async ({ signal }: Context) => {
    await gate.pass(signal).catch(reason => reasons.push(reason.reason))
  }
  const stage = await setJobStage({ wait }, { clock: systemClock, leaseMs: 60 })
  await stage.runner.start()
  await stage.add('wait')
  await gate.reached
  const stolen = { lease_holder: 'another', lease_expires_at: '2999-01-01T00:00:00.000Z' }
  await stage.agentDatabases.use('a', ({ db }) => db.updateTable('outbox').set(stolen).execute())
  await eventually(() => expect(reasons).toEqual(['lease lost']))
  await stage.runner.idle()
  expect(await stage.entries()).toMatchObject([stolen])
})

test('the job of a process that died is run once its lease is over', async () => {
  const clock = manualClock()
  const runs: string[] = []
  const stage = await setJobStage({ note: async ({ jobId }) => void runs.push(jobId) }, { clock })
  await stage.add('note')
  const dead = {
    lane: 'documents' as const,
    holder: 'dead',
    now: clock.now(),
    expiresAt: clock.now() + 30 * second,
    limit: 1,
  }
  await stage.agentDatabases.use('a', async ({ db }) => {
    const { due } = await findDue(db, { ...dead, running: { ids: [], keys: [] } })
    expect(await leaseFound(db, due, dead)).toHaveLength(1)
  })
  await stage.runner.start()
  await stage.runner.idle()
  clock.advance(29 * second)
  await stage.runner.idle()
  expect(runs).toEqual([])
  clock.advance(second)
  await stage.runner.idle()
  expect(runs).toHaveLength(1)
  expect(await stage.entries()).toEqual([])
})

describe('a job that processes have died with', () => {
  const calmMs = 20

  /** Jobs by the deaths that each has seen; `begun` lists runs as they begin, with what ran beside them. */
  async function setSuspects(
    deaths: Record<string, number>,
    options: { recorded?: string[]; calmMs?: number } = {},
  ) {
    const running = new Set<string>()
    const begun: string[] = []
    const work = async ({ payload }: Context) => {
      const name = String(payload)
      begun.push([name, ...running].join(' beside '))
      running.add(name)
      await new Promise(resolve => setTimeout(resolve, 5))
      running.delete(name)
    }
    const onFailed = async (_context: Context, error: string) => void options.recorded?.push(error)
    const stage = await setJobStage(
      { parse: { run: work, onFailed }, send: { lane: 'deliveries', run: work, onFailed } },
      { clock: manualClock(), calmMs: options.calmMs ?? calmMs },
    )
    for (const [name, count] of Object.entries(deaths)) {
      const agent = name.endsWith('of b') ? 'b' : 'a'
      await stage.add(name.split(' ')[0] ?? '', { agent, payload: name })
      await stage.agentDatabases.use(agent, ({ db }) =>
        db
          .updateTable('outbox')
          .set({ attempts: count })
          .where('payload', '=', JSON.stringify(name))
          .execute(),
      )
    }
    return { stage, begun }
  }

  test('twice runs alone in its process, after all others', async () => {
    const deaths = { 'parse suspect': 2, 'send suspect of b': 3 }
    // Longer than the looks for the others take on a busy machine.
    const { stage, begun } = await setSuspects(deaths, { calmMs: 1000 })
    for (const name of ['parse 1', 'parse 2', 'send 3', 'send 4 of b'])
      await stage.add(name.split(' ')[0] ?? '', { payload: name })
    await stage.runner.start()
    await stage.runner.idle()
    expect(begun.slice(0, 4).map(run => run.split(' beside ')[0])).toEqual(
      expect.arrayContaining(['parse 1', 'parse 2', 'send 3', 'send 4 of b']),
    )
    expect(begun.slice(4).toSorted()).toEqual(['parse suspect', 'send suspect of b'])
    for (const agent of ['a', 'b']) expect(await stage.entries(agent)).toEqual([])
  })

  test.each([
    { deaths: 3, runs: 1, recorded: 0 },
    { deaths: 4, runs: 0, recorded: 1 },
    { deaths: 5, runs: 0, recorded: 1 },
    // Recording that for people may be what ends the process, too.
    { deaths: 6, runs: 0, recorded: 0 },
  ])('$deaths times runs $runs times', async ({ deaths, runs, recorded }) => {
    const sentences: string[] = []
    const { stage, begun } = await setSuspects({ 'parse it': deaths }, { recorded: sentences })
    await stage.runner.start()
    await stage.runner.idle()
    expect(begun).toHaveLength(runs)
    expect(sentences).toEqual(Array(recorded).fill(expect.stringContaining('It ended the service')))
    expect((await stage.entries()).map(({ failed_at }) => failed_at !== null)).toEqual(
      runs === 1 ? [] : [true],
    )
  })

  test.each<[string, (context: Context) => Promise<void>]>([
    ['failed', () => Promise.reject(new Error('out of luck'))],
    ['yielded', () => Promise.reject(new JobYields({ until: Date.parse('2026-01-02') }))],
    [
      'come further',
      async ({ progressed, signal }) => {
        await progressed()
        await createGate().pass(signal)
      },
    ],
  ])('is none to be suspected once it has %s', async (_end, run) => {
    const stage = await setJobStage({ work: run }, { clock: manualClock(), calmMs })
    await stage.add('work')
    await stage.agentDatabases.use('a', ({ db }) => db.updateTable('outbox').set({ attempts: 3 }).execute())
    await stage.runner.start()
    await eventually(async () => {
      const [entry] = await stage.entries()
      expect(Number(entry?.attempts) - Number(entry?.failures)).toBe(entry?.lease_holder === null ? 0 : 1)
    })
  })

  test('is counted as such in a process that ends for an unknown error, and not in one that is stopped', async () => {
    for (const [reason, attempts] of [
      ['failing', 1],
      ['stopping', 0],
    ] as const) {
      const gate = createGate()
      const stage = await setJobStage({ wait: ({ signal }) => gate.pass(signal) }, { clock: manualClock() })
      await stage.runner.start()
      await stage.add('wait')
      await gate.reached
      await stage.runner.stop(5 * second, reason)
      expect(await stage.entries()).toMatchObject([{ attempts, lease_holder: null }])
    }
  })

  test('keeps those beside it from beginning no longer than they can bear', async () => {
    const clock = manualClock()
    const gate = createGate()
    const begun: string[] = []
    const stage = await setJobStage(
      {
        long: () => gate.pass(),
        note: async ({ payload }) => void begun.push(String(payload)),
      },
      { clock, calmMs },
    )
    await stage.add('long', { agent: 'b' })
    await stage.runner.start()
    await gate.reached
    // Only now, since it begins at once where nothing runs yet.
    const now = clock.now()
    await stage.add('note', { payload: 'suspect', runAt: now + 60 * second })
    const died = { attempts: 2, run_at: new Date(now).toISOString() }
    await stage.agentDatabases.use('a', ({ db }) => db.updateTable('outbox').set(died).execute())
    await stage.wakeUps.documents.pull('a', now)
    for (let other = 1; other <= 20; other += 1) {
      await stage.add('note', { payload: other, agent: 'b' })
      // They are kept back for longer the longer all has taken, which on a busy machine is long.
      await eventually(() => expect(begun).toHaveLength(other), 120_000)
    }
    expect(begun).not.toContain('suspect')
    gate.open()
    await stage.runner.idle()
    expect(begun.at(-1)).toBe('suspect')
  })
})

test('stopping aborts what runs and gives it back uncounted, for the next process to run at once', async () => {
  const clock = manualClock()
  const gate = createGate()
  const reasons: unknown[] = []
  const runs: string[] = []
  const stage = await setJobStage(
    {
      wait: async ({ signal, jobId }) => {
        runs.push(jobId)
        if (runs.length > 1) return
        signal.addEventListener('abort', () => reasons.push(signal.reason.reason))
        await gate.pass(signal)
      },
    },
    { clock },
  )
  await stage.runner.start()
  await stage.add('wait')
  await gate.reached
  await stage.runner.stop(5 * second)
  expect(reasons).toEqual(['stopping'])
  expect(await stage.entries()).toMatchObject([{ attempts: 0, failures: 0, lease_holder: null }])

  const next = await stage.newRunner('second')
  await next.start()
  await next.idle()
  expect(new Set(runs).size).toBe(1)
  expect(runs).toHaveLength(2)
  expect(await stage.entries()).toEqual([])
})

test('stopping waits no longer than its deadline for a job that does not listen', async () => {
  const gate = createGate()
  const stage = await setJobStage({ deaf: () => gate.pass() }, { clock: manualClock() })
  await stage.runner.start()
  await stage.add('deaf')
  await gate.reached
  await stage.runner.stop(1)
  expect(await stage.entries()).toMatchObject([{ lease_holder: 'first' }])
  gate.open()
})

test('when its agent is deleted a job is aborted, and the wake-up goes', async () => {
  const gate = createGate()
  const reasons: unknown[] = []
  const stage = await setJobStage(
    {
      wait: async ({ signal }) => {
        await gate.pass(signal).catch(reason => reasons.push(reason.reason))
        signal.throwIfAborted()
      },
    },
    { clock: manualClock() },
  )
  await stage.runner.start()
  await stage.add('wait')
  await gate.reached
  await stage.removeAgentRow('a')
  await stage.agentDatabases.remove('a')
  expect(reasons).toEqual(['agent closed'])
  await stage.runner.idle()
  expect(await stage.wakeUpRows()).toEqual([])
})

test('an agent that is deleted while its jobs are taken on is no trouble', async () => {
  const logged: string[] = []
  const stage = await setJobStage({ note: async () => {} }, { clock: manualClock() })
  const { agentDatabases } = stage
  let uses = 0
  const runner = await stage.newRunner('picky', {
    log: createLog('error', { write: line => logged.push(line) }),
    agentDatabases: {
      use: (agentId, work) =>
        ++uses > 1 ? Promise.reject(notFound('Agent')) : agentDatabases.use(agentId, work),
    },
  })
  await stage.add('note')
  await runner.start()
  await runner.idle()
  expect(uses).toBeGreaterThan(1)
  expect(logged).toEqual([])
})

test('an agent whose database does not open holds up nobody, and is tried again', async () => {
  const clock = manualClock()
  const runs: string[] = []
  const stage = await setJobStage({ note: async ({ agent }) => void runs.push(agent.agentId) }, { clock })
  const { agentDatabases } = stage
  let broken = true
  const runner = await stage.newRunner('picky', {
    agentDatabases: {
      async use(agentId, work) {
        if (broken && agentId === 'a') throw new Error('the file is damaged')
        return await agentDatabases.use(agentId, work)
      },
    },
  })
  await stage.add('note')
  await stage.add('note', { agent: 'b' })
  await runner.start()
  await runner.idle()
  expect(runs).toEqual(['b'])
  broken = false
  clock.advance(60 * second)
  await runner.idle()
  expect(runs).toEqual(['b', 'a'])
})

test('a job that yields is run again, after those that were due, however often', async () => {
  const runs: string[] = []
  let left = 12
  const stage = await setJobStage(
    {
      long: async () => {
        runs.push('long')
        left -= 1
        if (left > 0) throw new JobYields()
      },
      short: async () => void runs.push('short'),
    },
    { clock: systemClock, limits: allLanes({ concurrency: 1, perAgent: 1 }) },
  )
  await stage.add('long', { key: 'long' })
  await stage.add('short')
  await stage.runner.start()
  await eventually(() => expect(left).toBe(0))
  await stage.runner.idle()
  // Both may have been added in the same millisecond: the first may be either, the second is the other.
  expect(runs.slice(0, 2).toSorted()).toEqual(['long', 'short'])
  expect(await stage.entries('a')).toEqual([])
})

test('failures of a job count until it has come further', async () => {
  const clock = manualClock()
  const outcomes = ['fail', 'fail', 'yield', 'fail', 'fail', 'yield', 'fail', 'end']
  const recorded: string[] = []
  const stage = await setJobStage(
    {
      long: {
        maxAttempts: 3,
        run: async () => {
          const outcome = outcomes.shift()
          if (outcome === 'yield') throw new JobYields()
          if (outcome === 'fail') throw new Error('out of luck')
        },
        onFailed: async (_context, error) => void recorded.push(error),
      },
    },
    { clock },
  )
  await stage.runner.start()
  await stage.add('long')
  for (let seconds = 0; seconds <= 60; seconds++) {
    await stage.runner.idle()
    clock.advance(second)
  }
  expect(outcomes).toEqual([])
  expect(recorded).toEqual([])
  expect(await stage.entries()).toEqual([])
})

test('while the disk is full only jobs that make room run, and none is blamed for it', async () => {
  const runs: string[] = []
  const clock = manualClock()
  const disk: Disk = {
    problem: storageFull(),
    report: () => {},
    makeRoom: async () => void runs.push('room made'),
  }
  let isFull = true
  const stage = await setJobStage(
    {
      remove: { lane: 'documents', makesRoom: true, run: async () => void runs.push('removed') },
      async store() {
        runs.push('tried')
        if (isFull) throw new Error('It could not be stored.', { cause: storageFull() })
        runs.push('stored')
      },
    },
    { clock, disk },
  )
  await stage.add('store')
  await stage.add('remove')
  await stage.runner.start()
  await stage.runner.idle()
  expect(runs).toEqual(['room made', 'removed'])

  // Now each time only the attempt shows that it is.
  Object.assign(disk, { problem: undefined })
  for (let attempt = 0; attempt < 12; attempt += 1) {
    clock.advance(60 * second)
    await stage.runner.idle()
  }
  expect(runs.filter(run => run === 'tried')).toHaveLength(12)
  isFull = false
  clock.advance(60 * second)
  await stage.runner.idle()
  expect(runs.at(-1)).toBe('stored')
  expect(await stage.entries()).toEqual([])
})

test('a job that yields until a time runs again then, and not before', async () => {
  const clock = manualClock()
  const start = clock.now()
  const runs: number[] = []
  const stage = await setJobStage(
    {
      timer: async () => {
        runs.push((clock.now() - start) / second)
        if (runs.length < 3) throw new JobYields({ until: start + 100 * runs.length * second })
      },
    },
    { clock },
  )
  await stage.runner.start()
  await stage.add('timer')
  for (const seconds of [0, 99, 2, 98, 2]) {
    clock.advance(seconds * second)
    await stage.runner.idle()
  }
  expect(runs).toEqual([0, 101, 201])
  expect(await stage.entries()).toEqual([])
  expect(await stage.wakeUpRows()).toEqual([])
})

test('a job waits for none of another lane, even one that its agent or the process has filled', async () => {
  const gate = createGate()
  const begun: string[] = []
  const stage = await setJobStage(
    {
      crawl: async ({ agent }) => {
        begun.push(`crawl of ${agent.agentId}`)
        await gate.pass()
      },
      deliver: {
        lane: 'deliveries',
        run: async ({ agent }) => void begun.push(`delivery of ${agent.agentId}`),
      },
    },
    { clock: systemClock, limits: allLanes({ concurrency: 1, perAgent: 1 }) },
  )
  await stage.runner.start()
  for (const agent of ['a', 'b']) await stage.add('crawl', { agent })
  await gate.reached
  for (const agent of ['a', 'b']) await stage.add('deliver', { agent })
  await eventually(() => expect(begun).toHaveLength(3))
  expect(begun).toEqual(['crawl of a', 'delivery of a', 'delivery of b'])
  gate.open()
  await stage.runner.idle()
  expect(begun.at(-1)).toBe('crawl of b')
})
