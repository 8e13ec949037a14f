import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createTurnstile } from './turnstile.ts'

/** So many who come at once, and the numbers of those who have got through. */
function arrive(turnstile: ReturnType<typeof createTurnstile>, count: number): number[] {
  const through: number[] = []
  for (let number = 0; number < count; number += 1) void turnstile.pass().then(() => through.push(number))
  return through
}

describe('a turnstile', () => {
  it('lets a few through at once', async () => {
    const through = arrive(createTurnstile(2), 2)
    await Promise.resolve()
    expect(through).toEqual([0, 1])
  })

  it('lets many through a few in each turn of the event loop, in the order in which they came', async () => {
    const through = arrive(createTurnstile(2), 5)
    await Promise.resolve()
    expect(through).toEqual([0, 1])
    await nextTurn()
    expect(through).toEqual([0, 1, 2, 3])
    await nextTurn()
    expect(through).toEqual([0, 1, 2, 3, 4])
  })

  it('lets nobody overtake those who wait', async () => {
    const turnstile = createTurnstile(1)
    const first = arrive(turnstile, 3)
    await nextTurn()
    expect(first).toEqual([0, 1])
    const later = arrive(turnstile, 1)
    await nextTurn()
    expect([first, later]).toEqual([[0, 1, 2], []])
    await nextTurn()
    expect(later).toEqual([0])
  })

  it('lets through at once again when all have passed', async () => {
    const turnstile = createTurnstile(1)
    arrive(turnstile, 2)
    await nextTurn()
    await nextTurn()
    await nextTurn()
    const later = arrive(turnstile, 1)
    await Promise.resolve()
    expect(later).toEqual([0])
  })
})
