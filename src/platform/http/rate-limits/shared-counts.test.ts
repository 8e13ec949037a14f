import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { systemClock } from '../../clock.ts'
import { createLog } from '../../logging/log.ts'
import { createCountExchange, type RequestCount } from './shared-counts.ts'

const now = Date.parse('2026-01-01T00:00:10.500Z')
const windowEnd = now + 60_000

beforeEach(() => {
  vi.useFakeTimers({ now })
})

afterEach(() => {
  vi.useRealTimers()
})

function setUp() {
  const lines: string[] = []
  const add = vi.fn(async (counts: readonly RequestCount[]) => [...counts])
  const applied: RequestCount[] = []
  const exchange = createCountExchange({
    shared: { add },
    clock: systemClock,
    log: createLog('warn', { write: line => lines.push(line) }),
    apply: count => applied.push(count),
  })
  return { add, applied, exchange, lines }
}

test('all requests of a second are told in one go, and nothing is asked when there were none', async () => {
  const { add, exchange, applied } = setUp()
  exchange.note('a', windowEnd)
  exchange.note('b', windowEnd)
  exchange.note('a', windowEnd)
  await vi.advanceTimersByTimeAsync(999)
  expect(add).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  const told = [
    { key: 'a', points: 2, expiresAt: windowEnd },
    { key: 'b', points: 1, expiresAt: windowEnd },
  ]
  expect(add.mock.calls).toEqual([[told]])
  expect(applied).toEqual(told)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(add).toHaveBeenCalledOnce()
})

test('requests that come during an exchange count beside its totals, and are told by the next one', async () => {
  const { add, exchange, applied } = setUp()
  const totals = Promise.withResolvers<RequestCount[]>()
  add.mockReturnValueOnce(totals.promise)
  exchange.note('a', windowEnd)
  await vi.advanceTimersByTimeAsync(1_000)
  exchange.note('a', windowEnd)
  exchange.note('a', windowEnd)
  totals.resolve([{ key: 'a', points: 10, expiresAt: windowEnd - 5 }])
  await vi.advanceTimersByTimeAsync(0)
  expect(applied).toEqual([{ key: 'a', points: 12, expiresAt: windowEnd - 5 }])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(add.mock.calls.at(-1)).toEqual([[{ key: 'a', points: 2, expiresAt: windowEnd }]])
})

test('an exchange that fails is logged, and its counts are told by the next one', async () => {
  const { add, exchange, lines } = setUp()
  add.mockRejectedValueOnce(new Error('no connection'))
  exchange.note('a', windowEnd)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(lines).toEqual([expect.stringContaining('no connection')])
  exchange.note('a', windowEnd)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(add.mock.calls.at(-1)).toEqual([[{ key: 'a', points: 2, expiresAt: windowEnd }]])
})

test('a window that is over is not told of', async () => {
  const { add, exchange } = setUp()
  exchange.note('a', now + 500)
  await vi.advanceTimersByTimeAsync(600)
  exchange.note('a', now + 60_500)
  exchange.note('b', now + 700)
  await vi.advanceTimersByTimeAsync(400)
  expect(add.mock.calls).toEqual([[[{ key: 'a', points: 1, expiresAt: now + 60_500 }]]])
})

test('after its end nothing is told any more', async () => {
  const { add, exchange } = setUp()
  exchange.note('a', windowEnd)
  await exchange.close()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(add).not.toHaveBeenCalled()
})
