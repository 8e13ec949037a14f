import { buffer } from 'node:stream/consumers'
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { bareServer, plainRoute } from '#test/support/bare-server.ts'

const headers = { 'content-type': 'multipart/form-data' }

/** A server whose one route, which takes forms, counts those who are at work in it, each until the test ends its work. */
async function crowdedServer() {
  const working: (() => void)[] = []
  /** Bytes of each that had been read from its connection when it was its turn. */
  const readAhead: number[] = []
  const waiters: { count: number; resolve(): void }[] = []
  const { app } = await bareServer({
    routes: bare => {
      bare.addContentTypeParser('multipart/form-data', (_request, _content, done) => done(null))
      bare.post('/api/turn', { config: plainRoute, schema: { form: Type.Object({}) } }, async ({ raw }) => {
        const { promise, resolve } = Promise.withResolvers<void>()
        working.push(resolve)
        readAhead.push(raw.socket.bytesRead)
        for (const waiter of waiters) if (working.length >= waiter.count) waiter.resolve()
        const content = buffer(raw).catch(() => '')
        await promise
        return { bytes: (await content).length }
      })
    },
  })
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/api/turn`
  return {
    working,
    readAhead,
    come: (request: RequestInit = {}) => fetch(url, { method: 'POST', headers, ...request }),
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
  const left = come({ signal: leaving.signal })
  leaving.abort()
  await expect(left).rejects.toThrow('aborted')
  const last = come()
  await begun(9)
  for (const end of working) end()
  for (const answer of [...first, last]) expect((await answer).status).toBe(200)
  expect(working).toHaveLength(9)
})

test('most of what others send is left in their connections until it is their turn, and is whole then', async () => {
  const { come, begun, working, readAhead } = await crowdedServer()
  const body = new Uint8Array(1_000_000)
  const answers = Array.from({ length: 20 }, () => come({ body }))
  await begun(20)
  expect(Math.max(...readAhead)).toBeLessThanOrEqual(256 * 1024)
  for (const end of working) end()
  for (const answer of answers) expect(await (await answer).json()).toEqual({ bytes: body.length })
})
