import { expect, test } from 'vitest'
import { backoff } from './backoff.ts'

test.each([
  [1, 0.5, 1_000],
  [2, 0.5, 4_000],
  [3, 0.5, 16_000],
  [4, 0.5, 64_000],
  [1, 0, 750],
  [1, 1, 1_250],
  [3, 0, 12_000],
  [3, 1, 20_000],
])('after failure %d, with the die at %d, the pause is %d ms', (failures, die, pause) => {
  expect(backoff(failures, () => die)).toBe(pause)
})
