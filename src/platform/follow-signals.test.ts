import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { followSignals } from './follow-signals.ts'

function follow(count: number) {
  const leaders = Array.from({ length: count }, () => new AbortController())
  const follower = new AbortController()
  const signals = leaders.map(({ signal }) => signal)
  return { leaders, follower, signals, part: followSignals(follower, signals) }
}

test('the first of the signals aborts it, for its own reason', () => {
  const { leaders, follower } = follow(2)
  expect(follower.signal.aborted).toBe(false)
  leaders[1]?.abort('second')
  leaders[0]?.abort('first')
  expect(follower.signal.reason).toBe('second')
})

test('a signal that has aborted already aborts it at once', () => {
  const follower = new AbortController()
  followSignals(follower, [new AbortController().signal, AbortSignal.abort('before')])
  expect(follower.signal.reason).toBe('before')
})

test('once it has parted from them it hears of none, and they hold nothing of it', () => {
  const { leaders, follower, signals, part } = follow(2)
  part()
  leaders[0]?.abort()
  expect(follower.signal.aborted).toBe(false)
  expect(signals.flatMap(signal => getEventListeners(signal, 'abort'))).toEqual([])
})
