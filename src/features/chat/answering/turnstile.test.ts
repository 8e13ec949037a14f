import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createTurnstile } from './turnstile.ts'

/** A turnstile, and the numbers of those who have got through, in the order in which they did. */
function build(atOnce: number) {
  const turnstile = createTurnstile(atOnce)
  const through: number[] = []
  let count = 0
  return {
    through,
    arrive(more: number): void {
      for (; more > 0; more -= 1) {
        const number = count++
        void turnstile.pass().then(() => through.push(number))
      }
    },
  }
}

describe('a turnstile', () => {
  it('lets one who comes alone through after a turn of the event loop in which nobody else has come', async () => {
    const { through, arrive } = build(2)
    arrive(1)
    await nextTurn()
    expect(through).toEqual([])
    await nextTurn()
    expect(through).toEqual([0])
  })

  it('lets many through a few in each turn, in the order in which they came', async () => {
    const { through, arrive } = build(2)
    arrive(5)
    await nextTurn()
    expect(through).toEqual([0, 1])
    await nextTurn()
    expect(through).toEqual([0, 1, 2, 3])
    await nextTurn()
    expect(through).toEqual([0, 1, 2, 3, 4])
  })

  it('lets those through together who come one after the other, as soon as there are enough', async () => {
    const { through, arrive } = build(3)
    arrive(1)
    await nextTurn()
    arrive(1)
    await nextTurn()
    expect(through).toEqual([])
    arrive(1)
    await nextTurn()
    expect(through).toEqual([0, 1, 2])
  })

  it('lets nobody overtake those who wait', async () => {
    const { through, arrive } = build(1)
    arrive(3)
    await nextTurn()
    expect(through).toEqual([0])
    arrive(1)
    await nextTurn()
    await nextTurn()
    expect(through).toEqual([0, 1, 2])
    await nextTurn()
    expect(through).toEqual([0, 1, 2, 3])
  })
})
