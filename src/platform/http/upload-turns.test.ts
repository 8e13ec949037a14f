import { Server as NetServer } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { bareServer, plainRoute } from '#test/support/bare-server.ts'
import { createUploadTurns, watchArrivals } from './upload-turns.ts'

/** A server whose one route counts those who are at work in it, each until the test ends its work. */
async function crowdedServer() {
  const working: (() => void)[] = []
  const waiters: { count: number; resolve(): void }[] = []
  const { app } = await bareServer({
    routes: bare => {
      const takeTurn = createUploadTurns(bare.server)
      bare.route({
        method: 'GET',
        url: '/api/turn',
        config: plainRoute,
        handler: (_request, reply) =>
          takeTurn(reply, async () => {
            const { promise, resolve } = Promise.withResolvers<void>()
            working.push(resolve)
            for (const waiter of waiters) if (working.length >= waiter.count) waiter.resolve()
            await promise
            return {}
          }),
      })
    },
  })
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/api/turn`
  return {
    working,
    come: (signal?: AbortSignal) => fetch(url, { ...(signal && { signal }) }),
    /** Resolves once so many have begun. */
    begun(count: number): Promise<void> {
      if (working.length >= count) return Promise.resolve()
      const { promise, resolve } = Promise.withResolvers<void>()
      waiters.push({ count, resolve })
      return promise
    },
  }
}

test('a few work at a time, and each that ends lets the next one in', async () => {
  const { come, begun, working } = await crowdedServer()
  const answers = Array.from({ length: 20 }, () => come())
  await begun(8)
  expect(working).toHaveLength(8)
  for (let next = 0; next < 20; next += 1) {
    await begun(next + 1)
    working[next]?.()
  }
  for (const answer of answers) expect((await answer).status).toBe(200)
})

test('nobody waits for long for those that are slow', async () => {
  const { come, begun, working } = await crowdedServer()
  const answers = Array.from({ length: 20 }, () => come())
  await begun(20)
  for (const end of working) end()
  for (const answer of answers) expect((await answer).status).toBe(200)
})

test('one that goes away while it waits is not begun, and takes no place', async () => {
  const { come, begun, working } = await crowdedServer()
  const first = Array.from({ length: 8 }, () => come())
  await begun(8)
  const leaving = new AbortController()
  const left = come(leaving.signal)
  leaving.abort()
  await expect(left).rejects.toThrow('aborted')
  const last = come()
  await begun(9)
  for (const end of working) end()
  for (const answer of [...first, last]) expect((await answer).status).toBe(200)
  expect(working).toHaveLength(9)
})

test('none of those whose turn it is begins while connections arrive', async () => {
  const server = new NetServer()
  const untilQuiet = watchArrivals(server)
  let begun = 0
  const waiting = [1, 2, 3].map(() => untilQuiet().then(() => begun++))
  for (let turn = 0; turn < 5; turn += 1) {
    server.emit('connection')
    await nextTurn()
    expect(begun).toBe(0)
  }
  await Promise.all(waiting)
  expect(begun).toBe(3)
})
