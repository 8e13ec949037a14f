import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { bareServer, plainRoute } from '#test/support/bare-server.ts'
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
        turnstile.pass(() => through.push(number))
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

it('requests that come together begin in their order, eight in a turn of the event loop', async () => {
  let turn = 0
  const begun: { number: number; turn: number }[] = []
  const { app } = await bareServer({
    routes: bare => {
      bare.route<{ Params: { number: number } }>({
        method: 'GET',
        url: '/api/numbered/:number',
        config: plainRoute,
        handler: (request, reply) => {
          begun.push({ number: Number(request.params.number), turn })
          reply.send({})
        },
      })
    },
  })
  await app.ready()
  const asked = Promise.all(Array.from({ length: 20 }, (_, number) => app.inject(`/api/numbered/${number}`)))
  while (begun.length < 20) {
    await nextTurn()
    turn += 1
  }
  await asked
  expect(begun.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, number) => number))
  const turns = Map.groupBy(begun, one => one.turn)
  expect([...turns.values()].map(ofTurn => ofTurn.length)).toEqual([8, 8, 4])
})
