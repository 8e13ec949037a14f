import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { collectWhenQuiet } from './collect-when-quiet.ts'

const heap = vi.hoisted(() => ({ young: 0 }))

vi.mock('node:v8', async importOriginal => ({
  ...(await importOriginal<typeof import('node:v8')>()),
  getHeapSpaceStatistics: () => [{ space_name: 'new_space', space_used_size: heap.young }],
}))

const collect = vi.fn()

beforeEach(() => {
  collect.mockClear()
  vi.useFakeTimers()
  vi.stubGlobal('gc', collect)
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('young garbage is collected once no answer has followed for a moment', () => {
  heap.young = 10_000_000
  const answered = collectWhenQuiet()
  for (let answer = 0; answer < 10; answer += 1) {
    answered()
    vi.advanceTimersByTime(30)
  }
  expect(collect).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1_000)
  expect(collect).toHaveBeenCalledExactlyOnceWith({ type: 'minor', execution: 'async' })
})

test('little of it is left alone', () => {
  heap.young = 100_000
  collectWhenQuiet()()
  vi.advanceTimersByTime(1_000)
  expect(collect).not.toHaveBeenCalled()
})
