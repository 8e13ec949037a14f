import type { LightMyRequestResponse } from 'fastify'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { SharedCounts } from '#platform/http/rate-limits/shared-counts.ts'
import { bareServer, plainRoute } from '#test/support/bare-server.ts'
import { openEmbeddedStorage } from '#test/support/embedded-storage.ts'
import { eventually } from '#test/support/eventually.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { createTestDatabase } from '#test/support/postgres/databases.ts'
import { openPostgresStorage } from '#test/support/postgres/storage.ts'
import { systemClock } from '../platform/clock.ts'
import { createSharedCounts } from './shared-counts.ts'

/** The platform database as two processes see it; of an embedded one there is only one. */
async function openPlatforms() {
  const database = await createTestDatabase()
  if (database === undefined) {
    const { platform } = await openEmbeddedStorage()
    return [platform, platform] as const
  }
  onTestFinished(database.remove)
  const open = async () => (await openPostgresStorage(database.url)).platform
  return [await open(), await open()] as const
}

test('counts of several processes are added up until the window is over, which is that of the first', async () => {
  const clock = manualClock()
  const [one, other] = (await openPlatforms()).map(platform => createSharedCounts(platform, clock))
  const start = clock.now()
  const first = { key: 'chat a', points: 3, expiresAt: start + 60_000 }
  expect(await one?.add([first])).toEqual([first])
  clock.advance(10_000)
  const second = { key: 'chat a', points: 2, expiresAt: start + 70_000 }
  const apart = { key: 'chat b', points: 1, expiresAt: start + 70_000 }
  expect(await other?.add([apart, second])).toEqual([{ ...first, points: 5 }, apart])
  clock.advance(50_000)
  const anew = { key: 'chat a', points: 1, expiresAt: start + 120_000 }
  expect(await one?.add([anew])).toEqual([anew])
})

test('what is over is removed', async () => {
  const clock = manualClock()
  const [platform] = await openPlatforms()
  const counts = createSharedCounts(platform, clock)
  await counts.add([{ key: 'chat a', points: 1, expiresAt: clock.now() + 60_000 }])
  clock.advance(61_000)
  await counts.add([{ key: 'chat b', points: 1, expiresAt: clock.now() + 60_000 }])
  const rows = await platform.selectFrom('rate_limits').select('key').execute()
  expect(rows).toEqual([{ key: 'chat b' }])
})

test('many counts go into one statement, and more of them than an engine takes at once into several', async () => {
  const clock = manualClock()
  const [platform] = await openPlatforms()
  const counts = createSharedCounts(platform, clock)
  const many = Array.from({ length: 5_001 }, (_, n) => ({
    key: `general ${n}`,
    points: 1,
    expiresAt: clock.now() + 60_000,
  }))
  expect(await counts.add(many)).toHaveLength(5_001)
  expect(await counts.add(many.slice(0, 1))).toMatchObject([{ points: 2 }])
})

const limit = 20

/** A server that counts with others, and a way to wait for its next exchange. */
async function limitedServer(counts: SharedCounts) {
  const add = vi.fn(counts.add)
  const server = await bareServer({
    rateLimits: { general: limit },
    sharedCounts: { add },
    routes: app => void app.route({ method: 'GET', url: '/', config: plainRoute, handler: async () => ({}) }),
  })
  const send = async (times: number) => {
    const answers: LightMyRequestResponse[] = []
    for (let n = 0; n < times; n += 1) answers.push(await server.call({ url: '/' }))
    return answers
  }
  return {
    async statuses(times: number) {
      return (await send(times)).map(({ statusCode }) => statusCode)
    },
    async headers() {
      return (await send(1))[0]?.headers ?? {}
    },
    async exchanged(times: number) {
      await eventually(() => expect(add).toHaveBeenCalledTimes(times))
      await add.mock.results.at(-1)?.value
    },
  }
}

test('two processes let through together what one would, and what slips through within a second', async () => {
  const [one, other] = await openPlatforms()
  const first = await limitedServer(createSharedCounts(one, systemClock))
  const second = await limitedServer(createSharedCounts(other, systemClock))
  expect(await first.statuses(12)).toEqual(Array(12).fill(200))
  await first.exchanged(1)
  const told = await first.headers()
  expect(told).toMatchObject({ 'x-ratelimit-remaining': '7' })
  await first.exchanged(2)

  expect(await second.statuses(1)).toEqual([200])
  await second.exchanged(1)
  // 14 were let through by both, and this is the next one.
  expect(await second.headers()).toMatchObject({
    'x-ratelimit-remaining': '5',
    'x-ratelimit-reset': told['x-ratelimit-reset'],
  })
  expect(await second.statuses(7)).toEqual([200, 200, 200, 200, 200, 429, 429])
  await second.exchanged(2)

  expect(await first.statuses(1)).toEqual([200])
  await first.exchanged(3)
  expect(await first.statuses(2)).toEqual([429, 429])
})
