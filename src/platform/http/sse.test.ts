import { once } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { BareServer } from '#test/support/bare-server.ts'
import { bareServer, plainRoute } from '#test/support/bare-server.ts'
import { sendEvents } from './sse.ts'

afterEach(() => {
  vi.useRealTimers()
})

function server(events: () => AsyncIterable<unknown>): Promise<BareServer> {
  return bareServer({
    routes: app => {
      app.route({
        method: 'GET',
        url: '/api/events',
        config: plainRoute,
        handler: async (_request, reply) => sendEvents(reply, events()),
      })
    },
  })
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
    const bare = await server(async function* () {
      yield* values
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
    const bare = await server(async function* () {})
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
    const bare = await server(async function* () {
      yield { n: 1 }
      await second.promise
      yield { n: 2 }
    })
    const { reader } = await open(bare)
    expect((await reader.read()).value).toBe('event: message\ndata: {"n":1}\n\n')
    second.resolve()
    expect((await reader.read()).value).toBe('event: message\ndata: {"n":2}\n\n')
    expect((await reader.read()).done).toBe(true)
  })

  it('that come together go out together, in order', async () => {
    const bare = await server(async function* () {
      for (let n = 0; n < 100; n += 1) yield { n }
    })
    const { reader } = await open(bare)
    const { value = '' } = await reader.read()
    expect(value.match(/"n":\d+/g)).toEqual(Array.from({ length: 100 }, (_, n) => `"n":${n}`))
  })

  it('end when their source fails, with the connection cut and the failure logged', async () => {
    const bare = await server(async function* () {
      yield { n: 1 }
      throw new Error('the source is dry')
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

it('a client that leaves ends the source, which sees it in its finally', async () => {
  const ended = Promise.withResolvers<void>()
  const bare = await server(async function* () {
    try {
      for (let n = 0; ; n += 1) {
        yield { n, filling: 'x'.repeat(1000) }
        await new Promise(resolve => setImmediate(resolve))
      }
    } finally {
      ended.resolve()
    }
  })
  const { reader, leave } = await open(bare)
  await reader.read()
  leave()
  await ended.promise
})

it('a client that reads slowly holds the source back', async () => {
  let made = 0
  const bare = await server(async function* () {
    for (; made < 100_000; made += 1) yield { filling: 'x'.repeat(1000) }
  })
  const url = new URL(`${await bare.app.listen({ host: '127.0.0.1', port: 0 })}/api/events`)
  const { request } = await import('node:http')
  const sent = request(url).end()
  const [response] = await once(sent, 'response')
  response.pause()
  // The source stands still once the buffers on the way are full.
  await vi.waitFor(
    async () => {
      const before = made
      await new Promise(resolve => setImmediate(resolve))
      expect(made).toBe(before)
    },
    { interval: 50 },
  )
  expect(made).toBeLessThan(50_000)
  sent.destroy()
})

it('an idle stream is kept open by comments, which are no events', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const end = Promise.withResolvers<void>()
  const bare = await server(async function* () {
    yield { n: 1 }
    await end.promise
  })
  const { reader } = await open(bare)
  await reader.read()
  vi.advanceTimersByTime(15_000)
  expect((await reader.read()).value).toBe(': keep-alive\n\n')
  expect(vi.getTimerCount()).toBe(1)
  end.resolve()
  expect((await reader.read()).done).toBe(true)
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(0))
})
