import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { bareServer, plainRoute } from '#test/support/bare-server.ts'
import { eventually } from '#test/support/eventually.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A server with answers under way that end when the test says so, and with a lag that the test says. */
async function busyServer() {
  const underWay: (() => void)[] = []
  let lag = 0
  const { call, logged } = await bareServer({
    startLag: () => ({ read: () => lag, stop: () => {} }),
    routes: app => {
      app.route({
        method: 'POST',
        url: '/api/question',
        config: { area: 'chat', access: 'open', limit: 'chat' },
        handler: () => new Promise(resolve => underWay.push(() => resolve({}))),
      })
      app.get('/api/other', { config: plainRoute }, async () => ({}))
    },
  })
  const ask = () => call({ method: 'POST', url: '/api/question' })
  return {
    call,
    logged,
    ask,
    /** Begins so many answers; the function ends them. */
    async begin(count: number) {
      const before = underWay.length
      const asked = Array.from({ length: count }, ask)
      await eventually(() => expect(underWay).toHaveLength(before + count))
      const begun = underWay.slice(before)
      return async () => {
        for (const end of begun) end()
        return (await Promise.all(asked)).map(({ statusCode }) => statusCode)
      }
    },
    /** Has the lag read so many times. */
    read(milliseconds: number, times = 2) {
      lag = milliseconds
      vi.advanceTimersByTime(times * 500)
    },
  }
}

it('a question is refused while the event loop lags with many answers under way, and all else is not', async () => {
  const { begin, read, ask, call, logged } = await busyServer()
  const end = await begin(200)
  read(41)
  const refused = await ask()
  expect(refused.statusCode).toBe(503)
  expect(refused.headers).toMatchObject({ 'retry-after': '5', 'access-control-allow-origin': '*' })
  expect(refused.json()).toEqual({ error: expect.stringMatching(/Try again in 5 s/), code: 'OVERLOADED' })
  expect((await call({ url: '/api/other' })).statusCode).toBe(200)
  expect(await end()).toEqual(Array(200).fill(200))
  // However many are refused, the log says it once.
  expect(logged.filter(({ level }) => level === 40)).toMatchObject([
    { lag: 41, msg: 'overloaded: new questions are refused' },
  ])
})

it('one pause is no overload, however long it is', async () => {
  const { begin, read } = await busyServer()
  const end = await begin(200)
  for (const lag of [0, 3000, 0, 3000, 39, 3000, 0]) read(lag, 1)
  expect(await (await begin(1))()).toEqual([200])
  await end()
})

it('questions are answered again once the lag stays low, not as soon as it is a little lower', async () => {
  const { begin, read, ask } = await busyServer()
  const end = await begin(200)
  read(100)
  for (const lag of [30, 30, 10, 30, 10]) {
    read(lag, 1)
    expect((await ask()).statusCode).toBe(503)
  }
  read(10, 1)
  expect(await (await begin(1))()).toEqual([200])
  await end()
})

it('nothing is refused with few answers under way, whatever else keeps the process busy', async () => {
  const { begin, read } = await busyServer()
  const [endMost, endLast] = [await begin(199), await begin(1)]
  read(100)
  await endLast()
  read(100)
  expect(await (await begin(1))()).toEqual([200])
  await endMost()
})
