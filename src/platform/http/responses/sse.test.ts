import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { FastifyReply } from 'fastify'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type BareServer, bareServer, plainRoute } from '#test/support/bare-server.ts'
import { eventually } from '#test/support/eventually.ts'
import { whenClosed } from '../closing.ts'
import { type EventStream, openEventStream } from './sse.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** `tell` is called with each stream that a client opens. */
function server(
  tell: (events: EventStream, reply: FastifyReply) => void | Promise<void>,
  timeout?: number,
): Promise<BareServer> {
  return bareServer({
    routes: app => {
      app.route({
        method: 'GET',
        url: '/api/events',
        config: plainRoute,
        handler: async (_request, reply) => {
          void tell(openEventStream(reply, timeout), reply)
          return reply
        },
      })
    },
  })
}

function fail(message: string): never {
  throw new Error(message)
}

/** Opens the stream over a real connection. */
async function open({ app }: BareServer) {
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/api/events`
  const client = new AbortController()
  const response = await fetch(url, { signal: client.signal })
  const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader()
  return { response, reader, leave: () => client.abort() }
}

describe('events', () => {
  it('are each one line that says message and one line of JSON', async () => {
    const values = [
      { type: 'a', text: 'one\ntwo\r\nthree' },
      { type: 'b', text: 'ü 🐵 \u2028 data: x\n\n' },
      [1, null],
    ]
    const bare = await server(events => {
      for (const value of values) events.send(value)
      events.end()
    })
    const answer = await bare.call({ url: '/api/events' })
    const blocks = answer.body.split('\n\n')
    expect(blocks.pop()).toBe('')
    expect(blocks).toHaveLength(values.length)
    for (const [index, block] of blocks.entries()) {
      const [first, second = '', ...others] = block.split('\n')
      expect([first, others]).toEqual(['event: message', []])
      expect(JSON.parse(second.replace(/^data: /, ''))).toEqual(values[index])
    }
  })

  it('say that they are a stream that nobody is to keep, and carry the headers of every answer', async () => {
    const bare = await server(events => events.end())
    const { statusCode, headers } = await bare.call({ url: '/api/events' })
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    })
  })

  it('arrive as they come to be, the first without waiting for the second', async () => {
    const second = Promise.withResolvers<void>()
    const bare = await server(async events => {
      events.send({ n: 1 })
      await second.promise
      events.send({ n: 2 })
      events.end()
    })
    const { reader } = await open(bare)
    expect((await reader.read()).value).toBe('event: message\ndata: {"n":1}\n\n')
    second.resolve()
    expect((await reader.read()).value).toBe('event: message\ndata: {"n":2}\n\n')
    expect((await reader.read()).done).toBe(true)
  })

  it('arrive in order', async () => {
    const bare = await server(async events => {
      for (let n = 0; n < 100; n += 1) {
        events.send({ n })
        await Promise.resolve()
      }
      events.end()
    })
    const { reader } = await open(bare)
    let received = ''
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) received += piece.value
    expect(received.match(/"n":\d+/g)).toEqual(Array.from({ length: 100 }, (_, n) => `"n":${n}`))
  })

  it.each([
    { size: 10, events: 100, writes: [1, 1] },
    { size: 1000, events: 100, writes: [6, 8] },
    { size: 40_000, events: 5, writes: [5, 5] },
  ])(
    'of one turn of the event loop leave in few writes: $events of $size characters',
    async ({ size, events: count, writes: [fewest = 0, most = 0] }) => {
      let write = vi.fn()
      const bare = await server(async (events, reply) => {
        write = vi.spyOn(reply.raw, 'write')
        await new Promise(resolve => setImmediate(resolve))
        for (let n = 0; n < count; n += 1) {
          events.send({ filling: 'x'.repeat(size) })
          await Promise.resolve()
        }
        events.end()
      })
      const answer = await bare.call({ url: '/api/events' })
      expect(answer.body.match(/data: /g)).toHaveLength(count)
      expect(write.mock.calls.length).toBeGreaterThanOrEqual(fewest)
      expect(write.mock.calls.length).toBeLessThanOrEqual(most)
    },
  )

  it('end with one that can not be sent, with the connection cut and the failure logged', async () => {
    const bare = await server(events => {
      events.send({ n: 1 })
      setImmediate(() => events.send({ toJSON: () => fail('the source is dry') }))
    })
    const { reader } = await open(bare)
    const readAll = async () => {
      while (!(await reader.read()).done);
    }
    await expect(readAll()).rejects.toThrow()
    const failures = bare.logged.filter(({ level }) => level === 50)
    expect(failures).toHaveLength(1)
    expect(failures[0]).toMatchObject({
      requestId: expect.any(String),
      err: { message: 'the source is dry' },
    })
  })
})

it('a client that leaves ends the stream: what is sent after it is not even written down', async () => {
  let made = 0
  const opened = Promise.withResolvers<EventStream>()
  const closed = Promise.withResolvers<void>()
  const bare = await server((events, reply) => {
    reply.raw.once('close', closed.resolve)
    opened.resolve(events)
  })
  const reading = open(bare)
  const events = await opened.promise
  const counted = { toJSON: () => (made += 1) }
  events.send(counted)
  const { reader, leave } = await reading
  await reader.read()
  leave()
  await closed.promise
  await new Promise(resolve => setImmediate(resolve))
  events.send(counted)
  events.end()
  await new Promise(resolve => setImmediate(resolve))
  expect(made).toBe(1)
})

it('a client that left before the stream began leaves no timer behind, and its request is answered for all hooks', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const asked = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  const bare = await bareServer({
    routes: app => {
      app.addHook('onSend', (_request, _reply, payload, done) => {
        answered.resolve()
        done(null, payload)
      })
      app.route({
        method: 'GET',
        url: '/api/events',
        config: plainRoute,
        handler: async (_request, reply) => {
          reply.raw.once('close', gone.resolve)
          asked.resolve()
          await gone.promise
          openEventStream(reply).send({ n: 1 })
          return reply
        },
      })
    },
  })
  const client = connect(Number(new URL(await bare.app.listen({ host: '127.0.0.1', port: 0 })).port))
  client.write('GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await asked.promise
  client.destroy()
  await gone.promise
  await answered.promise
  await eventually(() => expect(vi.getTimerCount()).toBe(0))
})

it('streams that were asked for on one connection at once go out one after the other, whole', async () => {
  const opened: EventStream[] = []
  const bare = await server(events => {
    const stream = opened.push(events)
    for (let n = 0; n < 5000; n += 1) events.send({ stream, filling: 'x'.repeat(100) })
    // The second is complete while it still waits for the first.
    if (stream === 2) for (const each of opened.toReversed()) each.end()
  })
  const client = connect(Number(new URL(await bare.app.listen({ host: '127.0.0.1', port: 0 })).port))
  const asking = (ending: string) =>
    `GET /api/events HTTP/1.1\r\nHost: localhost\r\nConnection: ${ending}\r\n\r\n`
  client.write(asking('keep-alive') + asking('close'))
  const streams = [...(await text(client)).matchAll(/"stream":(\d)/g)].map(([, stream]) => stream)
  expect(streams).toEqual([...Array(5000).fill('1'), ...Array(5000).fill('2')])
})

it('a client that reads slowly lets events wait, until it reads on', async () => {
  let made = 0
  const event = {
    toJSON() {
      made += 1
      return { filling: 'x'.repeat(1000) }
    },
  }
  const bare = await server(events => {
    for (let n = 0; n < 100_000; n += 1) events.send(event)
    events.end()
  })
  const url = new URL(`${await bare.app.listen({ host: '127.0.0.1', port: 0 })}/api/events`)
  const { request } = await import('node:http')
  const sent = request(url).end()
  const [response] = await once(sent, 'response')
  response.pause()
  // Nothing more is written once the buffers on the way are full.
  await eventually(async () => {
    const before = made
    await new Promise(resolve => setImmediate(resolve))
    expect(made).toBe(before)
  })
  expect(made).toBeLessThan(50_000)
  let received = 0
  for await (const piece of response) received += piece.length
  expect(made).toBe(100_000)
  expect(received).toBeGreaterThan(100_000_000)
})

it('a client that reads nothing for long has gone, and what waits for it with it', async () => {
  const left = Promise.withResolvers<boolean>()
  const bare = await server((events, reply) => {
    whenClosed(reply, left.resolve)
    for (let n = 0; n < 20_000; n += 1) events.send({ filling: 'x'.repeat(1000) })
    events.end()
  }, 300)
  const { port } = new URL(await bare.app.listen({ host: '127.0.0.1', port: 0 }))
  const socket = connect(Number(port), '127.0.0.1').pause()
  onTestFinished(() => void socket.destroy())
  socket.write('GET /api/events HTTP/1.1\r\nhost: localhost\r\n\r\n')
  expect(await left.promise).toBe(false)
})

it('what was asked for on its connection before a stream had ended may be quiet for as long as it likes', async () => {
  const ended = Promise.withResolvers<void>()
  const bare = await bareServer({
    routes: app => {
      app.get('/api/events', { config: plainRoute }, (_request, reply) => {
        const events = openEventStream(reply)
        reply.raw.once('finish', ended.resolve)
        events.send({ n: 1 })
        events.end()
      })
      app.get('/api/slow', { config: plainRoute }, async (_request, reply) => {
        await ended.promise
        return { limit: reply.raw.socket?.timeout }
      })
    },
  })
  const client = connect(Number(new URL(await bare.app.listen({ host: '127.0.0.1', port: 0 })).port))
  const asking = (path: string, ending: string) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: ${ending}\r\n\r\n`
  client.write(asking('/api/events', 'keep-alive') + asking('/api/slow', 'close'))
  expect(await text(client)).toContain('{"limit":0}')
})

it('an idle stream is kept open by comments, which are no events', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const end = Promise.withResolvers<void>()
  const bare = await server(async events => {
    events.send({ n: 1 })
    await end.promise
    events.end()
  })
  const { reader } = await open(bare)
  await reader.read()
  vi.advanceTimersByTime(15_000)
  expect((await reader.read()).value).toBe(': keep-alive\n\n')
  expect(vi.getTimerCount()).toBe(1)
  end.resolve()
  expect((await reader.read()).done).toBe(true)
  await eventually(() => expect(vi.getTimerCount()).toBe(0))
})

it('a client that takes the end of a stream late gets all of it, and no comment after it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const written = Promise.withResolvers<FastifyReply['raw']>()
  // More than the buffers on the way hold.
  const filling = 'x'.repeat(20_000_000)
  const bare = await server((events, reply) => {
    events.send({ filling })
    events.end()
    written.resolve(reply.raw)
  })
  const { reader } = await open(bare)
  const raw = await written.promise
  expect(raw).toMatchObject({ writableNeedDrain: true, writableFinished: false })
  vi.advanceTimersByTime(15_000)
  let received = ''
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) received += piece.value
  expect(received).toBe(`event: message\ndata: ${JSON.stringify({ filling })}\n\n`)
  expect(bare.logged.filter(({ level }) => level === 50)).toEqual([])
})
