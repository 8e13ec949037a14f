import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { collect, immediately, question } from '#test/support/collect-answer.ts'
import { openaiText, type Reply, startModelServer } from '#test/support/model-server.ts'
import { runProgram } from '#test/support/run-program.ts'
import { brokenConnection, notReached } from '../chat-completions/call-failure.ts'
import { chatCompletionsModel } from '../chat-completions/chat-completions.ts'
import { remoteLanguageModel } from '../providers/providers.ts'
import type { Body } from './body.ts'
import { streamWithRetry } from './call-with-retry.ts'
import { sendDirectly, sendDirectlyWithin } from './send-directly.ts'

const minute = 60_000

test('says who asks', async () => {
  await using server = await startModelServer(() => ({ stream: openaiText('Hi') }))
  const send = sendDirectly
  await chatCompletionsModel('m-1', { baseUrl: server.url, fetch, send }).doStream(question('Hello'))
  expect(server.requests[0]?.headers['user-agent']).toMatch(/^agentstead /)
})

test('a connection that does not come about is given up long before a silence is, and may be tried again', async () => {
  const server = createServer(socket => socket.resume())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  // It takes the bytes and never answers the greeting of the encryption.
  const baseUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const send = sendDirectlyWithin({ connect: 20, silence: minute })
  const asking = chatCompletionsModel('m-1', { baseUrl, fetch, send }).doStream(question('Hello'))
  await expect(asking).rejects.toMatchObject({ name: 'APICallError', isRetryable: true })
  await new Promise(resolve => server.close(resolve))
})

test('a connection that came about is not given up while the model thinks', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  await using server = await startModelServer(() => {
    vi.advanceTimersByTime(minute)
    return { stream: openaiText('Hi') }
  })
  const endpoint = { baseUrl: server.url, fetch, send: sendDirectly }
  const model = await remoteLanguageModel('openai-compatible', 'm-1', endpoint)
  const { text } = await collect(streamWithRetry(model, question('Hello'), immediately))
  expect(text).toBe('Hi')
  expect(server.requests).toHaveLength(1)
})

/** A server that begins an answer of five bytes, after what else it says first, and the connection it does so on. */
async function startBeginner(ahead = '') {
  const { promise: connected, resolve } = Promise.withResolvers<Socket>()
  const server = createServer(socket => {
    socket.resume().on('error', () => {})
    socket.write(`${ahead}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n`)
    resolve(socket)
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connected,
    [Symbol.asyncDispose]: () => new Promise<void>(closed => server.close(() => closed())),
  }
}

/** What a body says to its end, and what is done about each of its pieces. */
function read(body: Body, onPiece: () => void = () => {}): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    body.read({
      piece(bytes) {
        text += Buffer.from(bytes).toString()
        onPiece()
      },
      end: () => resolve(text),
      fail: reject,
    })
  })
}

test.each<[string, (abort: () => void) => void]>([
  ['by who reads its word', abort => abort()],
  ['right after its word', abort => process.nextTick(abort)],
])(
  'an answer that is broken off %s fails with the reason, and takes nothing else with it',
  async (_, then) => {
    await using server = await startBeginner()
    const leaving = new AbortController()
    const reason = new Error('gone')
    const { body } = await sendDirectly(server.url, { headers: {}, body: '', signal: leaving.signal })
    const reading = read(body, () => then(() => leaving.abort(reason)))
    const isTold = expect(reading).rejects.toBe(reason)
    ;(await server.connected).write('Hell')
    await isTold
  },
)

test('an answer that is whole stays so when it is broken off by who reads its last word', async () => {
  await using server = await startBeginner()
  const leaving = new AbortController()
  const { body } = await sendDirectly(server.url, { headers: {}, body: '', signal: leaving.signal })
  const reading = read(body, () => process.nextTick(() => leaving.abort(new Error('gone'))))
  const socket = await server.connected
  socket.write('Hello')
  expect(await reading).toBe('Hello')
  socket.destroy()
})

test('a question that is taken back before it has a connection fails with the reason, and is never sent', async () => {
  await using server = await startModelServer(() => ({ json: {} }))
  const leaving = new AbortController()
  const reason = new Error('gone')
  const asking = sendDirectly(server.url, { headers: {}, body: '', signal: leaving.signal })
  leaving.abort(reason)
  await expect(asking).rejects.toBe(reason)
  await read((await sendDirectly(server.url, { headers: {}, body: '{}', signal: undefined })).body)
  expect(server.requests.map(request => request.body)).toEqual([{}])
})

test('what a server says ahead of its answer is not the answer', async () => {
  await using server = await startBeginner('HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n')
  const { status, headers, body } = await sendDirectly(server.url, {
    headers: {},
    body: '',
    signal: undefined,
  })
  expect([status, headers]).toEqual([200, { 'content-length': '5' }])
  const reading = read(body)
  const socket = await server.connected
  socket.write('Hello')
  expect(await reading).toBe('Hello')
  socket.destroy()
})

test('a user and a password in the address are sent, unless there is a key', async () => {
  await using server = await startModelServer(() => ({ stream: openaiText('Hi') }))
  const baseUrl = `${server.url.replace('//', '//us%20er:p%40ss@')}/v1`
  const endpoint = { baseUrl, fetch, send: sendDirectly }
  await chatCompletionsModel('m-1', endpoint).doStream(question('Hello'))
  await chatCompletionsModel('m-1', { ...endpoint, apiKey: 'k' }).doStream(question('Hello'))
  expect(server.requests.map(request => request.headers.authorization)).toEqual([
    `Basic ${Buffer.from('us er:p@ss').toString('base64')}`,
    'Bearer k',
  ])
})

test('a key that no header can hold is not quoted, and is not tried again', async () => {
  await using server = await startModelServer(() => ({ stream: openaiText('Hi') }))
  const endpoint = { baseUrl: server.url, apiKey: 'secret\nkey', fetch, send: sendDirectly }
  const asking = chatCompletionsModel('m-1', endpoint).doStream(question('Hello'))
  await expect(asking).rejects.toMatchObject({
    name: 'APICallError',
    message: 'Cannot connect: invalid authorization header',
    isRetryable: false,
  })
})

test.each([
  ['1', 'http://models.invalid/v1/chat/completions'],
  ['0', undefined],
])('goes by the proxy of the environment where NODE_USE_ENV_PROXY (%s) says so', async (isUsed, asked) => {
  await using proxy = await startModelServer(() => ({ json: {} }))
  const program = new URL('../../../test/support/programs/ask-directly.ts', import.meta.url)
  const environment = { NODE_USE_ENV_PROXY: isUsed, HTTP_PROXY: proxy.url }
  await runProgram(program, environment, 'http://models.invalid/v1/chat/completions')
  expect(proxy.requests[0]?.path).toBe(asked)
})

async function* silence() {
  yield ': wait\n\n'
  await new Promise(() => {})
}

test.each<[string, () => Reply | Promise<Reply>]>([
  ['before the answer', () => new Promise<Reply>(() => {})],
  ['within the answer', () => ({ stream: silence() })],
])('a silence %s ends the turn, and nobody is asked again', async (_, respond) => {
  await using server = await startModelServer(respond)
  const send = sendDirectlyWithin({ connect: minute, silence: 50 })
  const model = await remoteLanguageModel('openai-compatible', 'm-1', { baseUrl: server.url, fetch, send })
  const { error } = await collect(streamWithRetry(model, question('Hello'), immediately))
  expect(error).toMatchObject({ code: 'MODEL_ERROR' })
  expect(server.requests).toHaveLength(1)
})

test.each(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])('so does one that fetch tells by %s', code => {
  const cause = Object.assign(new Error('timeout'), { code })
  expect(notReached(new TypeError('fetch failed', { cause }))).toMatchObject({ isRetryable: false })
  expect(brokenConnection(new TypeError('terminated', { cause }), 200)).toMatchObject({
    isRetryable: false,
  })
})
