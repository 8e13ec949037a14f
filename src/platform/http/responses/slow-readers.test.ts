import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { bareServer, plainRoute } from '#test/support/bare-server.ts'
import { whenClosed } from '../closing.ts'

/** More than the buffers on the way hold. */
const large = 'x'.repeat(20_000_000)

const asking = (path: string, ending = 'keep-alive') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: ${ending}\r\n\r\n`

it.each([
  ['text', large],
  ['bytes', Buffer.from(large)],
])(
  'a client that reads nothing of an answer of %s for long has gone, and the answer with it',
  async (_, answer) => {
    const left = Promise.withResolvers<boolean>()
    const { app } = await bareServer({
      timeout: 300,
      routes: bare => {
        bare.get('/api/large', { config: plainRoute }, (_request, reply) => {
          whenClosed(reply, left.resolve)
          reply.send(answer)
        })
      },
    })
    const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
    const socket = connect(Number(port), '127.0.0.1').pause()
    onTestFinished(() => void socket.destroy())
    socket.write(asking('/api/large'))
    expect(await left.promise).toBe(false)
  },
)

it('what was asked for on its connection before a large answer had been read may take as long as it likes', async () => {
  const sent = Promise.withResolvers<void>()
  const { app } = await bareServer({
    routes: bare => {
      bare.get('/api/large', { config: plainRoute }, (_request, reply) => {
        reply.raw.once('finish', sent.resolve)
        reply.send(large)
      })
      bare.get('/api/slow', { config: plainRoute }, async (_request, reply) => {
        await sent.promise
        return { limit: reply.raw.socket?.timeout }
      })
    },
  })
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const client = connect(Number(port), '127.0.0.1').setEncoding('latin1')
  client.write(asking('/api/large') + asking('/api/slow', 'close'))
  let end = ''
  for await (const piece of client) end = `${end}${piece}`.slice(-20)
  expect(end).toContain('{"limit":0}')
})
