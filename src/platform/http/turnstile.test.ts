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

it('questions begin in their order, eight in a turn of the event loop, and others do not wait for them', async () => {
  let turn = 0
  const begun: { name: string; turn: number }[] = []
  const { app } = await bareServer({
    routes: bare => {
      for (const limit of ['chat', 'general'] as const)
        bare.route<{ Params: { name: string } }>({
          method: 'GET',
          url: `/api/${limit}/:name`,
          config: { ...plainRoute, limit },
          handler: (request, reply) => {
            begun.push({ name: request.params.name, turn })
            reply.send({})
          },
        })
    },
  })
  await app.ready()
  const questions = Array.from({ length: 20 }, (_, number) => `question ${number}`)
  const addresses = [...questions.map(name => `/api/chat/${name}`), '/api/general/other']
  const asked = Promise.all(addresses.map(address => app.inject(address)))
  while (begun.length < 21) {
    await nextTurn()
    turn += 1
  }
  await asked
  expect(begun.map(({ name }) => name)).toEqual(['other', ...questions])
  const turns = Map.groupBy(begun.slice(1), one => one.turn)
  expect([...turns.values()].map(ofTurn => ofTurn.length)).toEqual([8, 8, 4])
})
