import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { onceIdle } from './once-idle.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

test('lets go fifteen seconds after the last use, each time', () => {
  const letGo = vi.fn()
  const inUse = onceIdle(letGo)
  inUse()
  vi.advanceTimersByTime(10_000)
  inUse()
  vi.advanceTimersByTime(14_999)
  expect(letGo).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(letGo).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(60_000)
  expect(letGo).toHaveBeenCalledTimes(1)
  inUse()
  vi.advanceTimersByTime(15_000)
  expect(letGo).toHaveBeenCalledTimes(2)
})
