import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { bareServer, plainRoute } from '#test/support/bare-server.ts'
import { testApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'

/** A client that reads nothing until it is told to. */
async function open(address: string): Promise<Socket> {
  const socket = connect(Number(new URL(address).port), '127.0.0.1').pause()
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

function asking(path: string, times: number, last = ''): string {
  const one = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n`
  return `${`${one}\r\n`.repeat(times - 1)}${one}${last}\r\n`
}

const closing = 'Connection: close\r\n'

/** A server that counts the requests whose handler was reached. */
async function countingServer(answer: (count: number) => Buffer | Promise<Buffer>) {
  let begun = 0
  const bare = await bareServer({
    routes: app => {
      app.route({
        method: 'GET',
        url: '/api/answer',
        config: plainRoute,
        handler: () => {
          begun += 1
          return answer(begun)
        },
      })
      app.route({ method: 'GET', url: '/api/hello', config: plainRoute, handler: async () => ({}) })
    },
  })
  const address = await bare.app.listen({ host: '127.0.0.1', port: 0 })
  return { address, begun: () => begun }
}

it('requests wait unbegun while their client reads no answers, and are all answered in order once it does', async () => {
  const size = 512 * 1024
  const { address, begun } = await countingServer(count => Buffer.alloc(size, `${count},`))
  const client = await open(address)
  client.write(asking('/api/answer', 300, closing))
  await eventually(() => expect(begun()).toBeGreaterThan(1))
  // As long as others are answered, the server has had the time to begin them all.
  for (let n = 0; n < 300; n += 1) expect((await fetch(`${address}/api/hello`)).status).toBe(200)
  // What the connection's buffers took has been read as far as the server can tell.
  expect(begun()).toBeLessThan(100)
  const answers = (await text(client)).split('HTTP/1.1 200 OK').slice(1)
  expect(answers.map(answer => Number.parseInt(answer.split('\r\n\r\n')[1] ?? '', 10))).toEqual(
    Array.from({ length: 300 }, (_, n) => n + 1),
  )
})

it('beside the request that is being answered, one more is under way', async () => {
  const held = Promise.withResolvers<Buffer>()
  const { address, begun } = await countingServer(() => held.promise)
  const client = await open(address)
  client.write(asking('/api/answer', 1000, closing))
  await eventually(() => expect(begun()).toBe(2))
  for (let n = 0; n < 50; n += 1) await fetch(`${address}/api/hello`)
  expect(begun()).toBe(2)
  held.resolve(Buffer.from('!'))
  expect((await text(client)).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(1000)
  expect(begun()).toBe(1000)
})

it('bodies that were sent ahead arrive whole', async () => {
  const bare = await bareServer({
    routes: app => {
      app.route({
        method: 'POST',
        url: '/api/length',
        config: plainRoute,
        handler: async request => {
          // Its answer takes a while, so that the body of the next one waits.
          await nextTurn()
          return { length: JSON.stringify(request.body).length }
        },
      })
    },
  })
  const client = await open(await bare.app.listen({ host: '127.0.0.1', port: 0 }))
  const lengths = [10, 300_000, 2, 200_000, 70_000]
  for (const [at, length] of lengths.entries()) {
    const body = `"${'x'.repeat(length - 2)}"`
    const last = at === lengths.length - 1 ? closing : ''
    client.write(
      `POST /api/length HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${last}Content-Length: ${length}\r\n\r\n${body}`,
    )
  }
  expect([...(await text(client)).matchAll(/"length":(\d+)/g)].map(([, length]) => Number(length))).toEqual(
    lengths,
  )
})

it('connections that send more ahead than can be kept are ended, and nobody else’s', async () => {
  const held = Promise.withResolvers<Buffer>()
  const { address, begun } = await countingServer(() => held.promise)
  const modest = await open(address)
  modest.write(asking('/api/answer', 3, closing))
  await eventually(() => expect(begun()).toBe(2))
  let ended = 0
  const greedy: Socket[] = []
  for (let n = 0; n < 16; n += 1) {
    const client = await open(address)
    client
      .on('error', () => {})
      .on('close', () => {
        ended += 1
      })
    greedy.push(client)
    client.resume().write(asking('/api/answer', 1300))
  }
  await eventually(() => expect(ended).toBeGreaterThan(0))
  expect((await fetch(`${address}/api/hello`)).status).toBe(200)
  held.resolve(Buffer.from('!'))
  expect((await text(modest)).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(3)
  expect(ended).toBeLessThan(16)
  for (const client of greedy) client.destroy()
  // Once they have gone, there is room again.
  await eventually(async () => {
    const client = await open(address)
    client.write(asking('/api/answer', 100, closing))
    expect((await text(client)).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(100)
  })
})

it('the service lives on while many send ahead for its description and never read it', async () => {
  const app = await testApp()
  const address = await app.listen()
  const clients = await Promise.all(Array.from({ length: 16 }, () => open(address)))
  for (const client of clients) client.on('error', () => {}).write(asking('/openapi.json', 1500))
  const before = process.memoryUsage().rss
  for (let n = 0; n < 100; n += 1) expect((await fetch(`${address}/healthz`)).status).toBe(200)
  // All answers together have several gigabytes.
  expect(process.memoryUsage().rss - before).toBeLessThan(500e6)
})
