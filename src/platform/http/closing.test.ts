import { request } from 'node:http'
import { expect, it } from 'vitest'
import { bareServer, plainRoute } from '#test/support/bare-server.ts'
import { whenClosed } from './closing.ts'

/** A server whose one route answers when it is told to, and calls back with how its answer ended. */
async function slowServer() {
  const arrived = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  const ends: boolean[] = []
  const ended = Promise.withResolvers<boolean>()
  const { app, logged } = await bareServer({
    routes: bare => {
      bare.route({
        method: 'GET',
        url: '/api/slow',
        config: plainRoute,
        handler: async (_request, reply) => {
          whenClosed(reply, isSent => {
            ends.push(isSent)
            ended.resolve(isSent)
          })
          arrived.resolve()
          await answer.promise
          return {}
        },
      })
    },
  })
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/api/slow`
  return { url, arrived: arrived.promise, answer: answer.resolve, ended: ended.promise, ends, logged }
}

it('an answer that is sent to its end is told once, and logged under its status', async () => {
  const { url, answer, ended, ends, logged } = await slowServer()
  answer()
  expect((await fetch(url, { headers: { connection: 'close' } })).status).toBe(200)
  expect(await ended).toBe(true)
  await new Promise(resolve => setImmediate(resolve))
  expect(ends).toEqual([true])
  expect(logged).toContainEqual(expect.objectContaining({ msg: 'request', status: 200 }))
})

it('a client that goes before is told once, and logged as 499', async () => {
  const { url, arrived, answer, ended, ends, logged } = await slowServer()
  const sent = request(url).on('error', () => {})
  sent.end()
  await arrived
  sent.destroy()
  expect(await ended).toBe(false)
  answer()
  await new Promise(resolve => setImmediate(resolve))
  expect(ends).toEqual([false])
  expect(logged.filter(({ msg }) => msg === 'request')).toEqual([expect.objectContaining({ status: 499 })])
})

it('is told at once of an answer that has ended already', async () => {
  const told: boolean[] = []
  const bare = await bareServer({
    routes: app => {
      app.addHook('onResponse', async (_request, reply) => {
        await new Promise(resolve => reply.raw.once('close', resolve))
        whenClosed(reply, isSent => told.push(isSent))
      })
      app.route({ method: 'GET', url: '/api/x', config: plainRoute, handler: async () => ({}) })
    },
  })
  const url = await bare.app.listen({ host: '127.0.0.1', port: 0 })
  await fetch(`${url}/api/x`, { headers: { connection: 'close' } })
  await expect.poll(() => told).toEqual([true])
})
