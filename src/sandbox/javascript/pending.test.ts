import { expect, it, onTestFinished, vi } from 'vitest'
import { defaultLimits } from './limits.ts'
import { createPending } from './pending.ts'

const request = { url: 'https://example.com/', method: 'GET', headers: [], body: null }

function newPending() {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  return createPending({ limits: defaultLimits, send: () => {}, wake: () => {} })
}

it('what waits has a number of its own, so that all of it is counted and ended', () => {
  const pending = newPending()
  pending.startTimer(1, 1000)
  expect(() => pending.startTimer(1, 1000)).toThrow('in use')
  expect(() => pending.startRequest(1, request)).toThrow('in use')
  pending.end()
  expect(vi.getTimerCount()).toBe(0)
})

it('nothing begins when the run is over', () => {
  const pending = newPending()
  pending.end()
  expect(() => pending.startTimer(1, 1000)).toThrow('has ended')
  expect(() => pending.startRequest(2, request)).toThrow('has ended')
  expect(vi.getTimerCount()).toBe(0)
})
