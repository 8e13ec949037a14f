/** PostgreSQL goes away in the middle of a turn, and comes back. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { buildApp } from '#test/support/build-app.ts'
import { heldStream, startChatModel } from '#test/support/chat-model.ts'
import type { MessageList, TurnBody } from '#test/support/chat-stage.ts'
import { createTestDatabase } from '#test/support/postgres/databases.ts'

/** A way to a server that can be cut. */
async function startPassage(to: URL) {
  const sockets = new Set<Socket>()
  let refused = Promise.withResolvers<void>()
  let isCut = false
  const server = createServer(socket => {
    sockets.add(socket.on('error', () => {}))
    if (isCut) {
      socket.destroy()
      refused.resolve()
      return
    }
    const onward = connect(Number(to.port), to.hostname)
    sockets.add(onward.on('error', () => {}))
    socket.pipe(onward).on('close', () => socket.destroy())
    onward.pipe(socket).on('close', () => onward.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(to)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    /** Ends all connections and refuses others; resolves once one was refused. */
    cut(): Promise<void> {
      refused = Promise.withResolvers()
      isCut = true
      for (const socket of sockets) socket.destroy()
      return refused.promise
    },
    restore() {
      isCut = false
    },
    close: () => server.close(),
  }
}

it('stores the answer of a turn when its database is back', async () => {
  const database = await createTestDatabase('service')
  if (database === undefined) throw new Error('These tests need a server of PostgreSQL.')
  const passage = await startPassage(new URL(database.url))
  const model = await startChatModel()
  const environment = { ...model.environment, DATABASE_URL: passage.url, DEV_USER: 'dev@example.com' }
  const app = await buildApp({ environment })
  onTestFinished(async () => {
    await app.close()
    passage.close()
    await model[Symbol.asyncDispose]()
    await database.remove()
  })
  const chat = '/api/agents/default/chat'
  const held = heldStream(['Half, '], ['and whole.'])
  model.next(held.reply)
  const sending = app.call<TurnBody>('POST', chat, { body: { content: 'Hi', autoRag: false } })
  await held.begun
  const refused = passage.cut()
  held.open()
  await held.ended
  await refused
  passage.restore()
  const { status, body } = await sending
  expect({ status, said: body.assistantMessage?.content }).toEqual({ status: 200, said: 'Half, and whole.' })
  const { messages } = (await app.call<MessageList>('GET', chat)).body
  expect(messages.map(({ content }) => content)).toEqual(['Hi', 'Half, and whole.'])
  const { conversationId } = body.userMessage
  expect((await app.call('POST', chat, { body: { content: 'On', conversationId } })).status).toBe(200)
})
