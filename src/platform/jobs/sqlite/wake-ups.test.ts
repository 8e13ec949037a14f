import { expect, onTestFinished, test, vi } from 'vitest'
import { openEmbeddedStorage } from '#test/support/embedded-storage.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { systemClock } from '../../clock.ts'
import { createWakeUps } from './wake-ups.ts'

async function setUp(clock = manualClock()) {
  const { platform } = await openEmbeddedStorage()
  const wakeUps = createWakeUps({ db: platform, clock }).documents
  onTestFinished(() => wakeUps.stop())
  const rows = async () => {
    const all = await platform.selectFrom('wake_ups').selectAll().orderBy('agent_id').execute()
    return Object.fromEntries(all.map(row => [row.agent_id, Date.parse(row.due_at) - start]))
  }
  const start = clock.now()
  return { clock, start, wakeUps, rows }
}

test('an agent keeps the earliest of its wishes', async () => {
  const { wakeUps, start, rows } = await setUp()
  await wakeUps.pull('a', start + 300)
  await wakeUps.pull('a', start + 200)
  await wakeUps.pull('a', start + 400)
  expect(await rows()).toEqual({ a: 200 })
})

test('agents are taken in the order in which they became due, and not before', async () => {
  const { wakeUps, start, clock } = await setUp()
  await wakeUps.pull('late', start + 300)
  await wakeUps.pull('early', start + 100)
  await wakeUps.pull('future', start + 301)
  expect(await wakeUps.take()).toBeUndefined()
  clock.advance(300)
  expect(await wakeUps.take()).toBe('early')
  await wakeUps.settle('early', undefined)
  expect(await wakeUps.take()).toBe('late')
  await wakeUps.settle('late', undefined)
  expect(await wakeUps.take()).toBeUndefined()
})

test('news that come while an agent is looked into win over what the look found', async () => {
  const { wakeUps, start, rows } = await setUp()
  await wakeUps.pull('a', start)
  expect(await wakeUps.take()).toBe('a')
  await wakeUps.pull('a', start + 1_000)
  await wakeUps.settle('a', undefined)
  expect(await wakeUps.take()).toBe('a')
  await wakeUps.settle('a', start + 1_000)
  expect(await rows()).toEqual({ a: 1_000 })
})

test('news that come at the very moment of settling are not lost', async () => {
  const { wakeUps, start, rows } = await setUp()
  await wakeUps.pull('a', start)
  expect(await wakeUps.take()).toBe('a')
  await Promise.all([wakeUps.settle('a', undefined), wakeUps.pull('a', start + 1_000)])
  expect(Object.keys(await rows())).toEqual(['a'])
})

test('while a transaction is under way its agent keeps a wake-up, whatever a look found', async () => {
  const { wakeUps, start, clock, rows } = await setUp()
  const announcement = await wakeUps.announce('a')
  expect(await rows()).toEqual({ a: 5_000 })
  clock.advance(6_000)
  expect(await wakeUps.take()).toBe('a')
  await wakeUps.settle('a', undefined)
  expect(await rows()).toEqual({ a: 11_000 })
  await announcement.settle(start + 7_000)
  expect(await rows()).toEqual({ a: 7_000 })
})

test('a transaction that added nothing leaves its wake-up, for an empty look', async () => {
  const { wakeUps, clock, rows } = await setUp()
  const announcement = await wakeUps.announce('a')
  await announcement.settle(undefined)
  expect(await rows()).toEqual({ a: 5_000 })
  clock.advance(5_000)
  expect(await wakeUps.take()).toBe('a')
  await wakeUps.settle('a', undefined)
  expect(await rows()).toEqual({})
})

test('at the start, wake-ups that may stand for interrupted work become due, those for later do not', async () => {
  const { wakeUps, start, rows } = await setUp()
  await wakeUps.pull('working', start + 30_000)
  await wakeUps.pull('tomorrow', start + 86_400_000)
  const onDue = vi.fn()
  await wakeUps.start(onDue, 30_000)
  expect(await rows()).toEqual({ tomorrow: 86_400_000, working: 0 })
  expect(onDue).toHaveBeenCalledOnce()
})

test('by the real clock, the timer goes to the earliest wish, also when that is told last', async () => {
  const { platform } = await openEmbeddedStorage()
  const wakeUps = createWakeUps({ db: platform, clock: systemClock }).documents
  onTestFinished(() => wakeUps.stop())
  const rung = Promise.withResolvers<void>()
  let calls = 0
  // The first call is that of the start.
  await wakeUps.start(() => {
    calls += 1
    if (calls === 2) rung.resolve()
  }, 0)
  await wakeUps.pull('a', systemClock.now() + 20_000)
  const dueAt = systemClock.now() + 30
  await wakeUps.pull('b', dueAt)
  await rung.promise
  expect(systemClock.now()).toBeGreaterThanOrEqual(dueAt - 1)
})
