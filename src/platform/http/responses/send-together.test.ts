import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { expect, it } from 'vitest'
import { bareServer, plainRoute } from '#test/support/bare-server.ts'
import { whenClosed } from '../closing.ts'

/** A server whose route tells when a request is handled and when its answer was sent, and works for so many milliseconds. */
async function tellingServer() {
  const happened: string[] = []
  const { app } = await bareServer({
    routes: bare => {
      bare.route<{ Params: { name: string; milliseconds: number } }>({
        method: 'GET',
        url: '/api/told/:name/:milliseconds',
        config: plainRoute,
        handler: (request, reply) => {
          const { name, milliseconds } = request.params
          happened.push(`${name} is handled`)
          whenClosed(reply, () => happened.push(`${name} is sent`))
          const until = performance.now() + Number(milliseconds)
          while (performance.now() < until);
          reply.send({ name })
        },
      })
    },
  })
  const ask = async (name: string, milliseconds: number) =>
    (await app.inject(`/api/told/${name}/${milliseconds}`)).json<unknown>()
  /** After this, requests are known to come together. */
  const comeTogether = async () => {
    await Promise.all([ask('first', 0), ask('second', 0)])
    await nextTurn()
    happened.length = 0
  }
  return { ask, happened, comeTogether }
}

it('where requests come together, all of a turn of the event loop are handled before the first answer is sent', async () => {
  const { ask, happened, comeTogether } = await tellingServer()
  await comeTogether()
  const answers = await Promise.all([ask('one', 0), ask('two', 0)])
  expect(answers).toEqual([{ name: 'one' }, { name: 'two' }])
  expect(happened).toEqual(['one is handled', 'two is handled', 'one is sent', 'two is sent'])
})

it('where requests come one by one, an answer is sent at once', async () => {
  const { ask, happened, comeTogether } = await tellingServer()
  await comeTogether()
  await ask('alone', 0)
  await nextTurn()
  happened.length = 0
  await Promise.all([ask('one', 0), ask('two', 0)])
  expect(happened).toEqual(['one is handled', 'one is sent', 'two is handled', 'two is sent'])
})

it('answers do not wait for a turn that has become long', async () => {
  const { ask, happened, comeTogether } = await tellingServer()
  await comeTogether()
  await Promise.all([ask('one', 0), ask('two', 5), ask('three', 0)])
  expect(happened.indexOf('one is sent')).toBeLessThan(happened.indexOf('three is handled'))
  expect(happened).toHaveLength(6)
})

/** The statuses of three answers of one turn, of which the second is given like this. */
async function statusesAround(answer: (reply: FastifyReply) => FastifyReply) {
  const { app } = await bareServer({
    routes: bare => {
      bare.route({ method: 'GET', url: '/api/well', config: plainRoute, handler: async () => ({}) })
      bare.route({
        method: 'GET',
        url: '/api/odd',
        config: plainRoute,
        handler: (_request, reply) => answer(reply),
      })
    },
  })
  // From then on answers are known to come together.
  await Promise.all(['well', 'well'].map(name => app.inject(`/api/${name}`)))
  await nextTurn()
  const answers = await Promise.all(['well', 'odd', 'well'].map(name => app.inject(`/api/${name}`)))
  return answers.map(({ statusCode }) => statusCode)
}

it('an answer that can not be sent fails alone', async () => {
  const statuses = await statusesAround(reply => reply.header('x-broken', 'two\nlines').send({}))
  expect(statuses).toEqual([200, 500, 200])
})

it('a second answer to a request changes nothing', async () => {
  const statuses = await statusesAround(reply => reply.send({}).send({}))
  expect(statuses).toEqual([200, 200, 200])
})

it('a stream that fails at once is listened to at once', async () => {
  const statuses = await statusesAround(reply => reply.send(new Readable().destroy(new Error('gone'))))
  expect(statuses).toEqual([200, 500, 200])
})
