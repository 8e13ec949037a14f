/** Requests that are larger than those of other routes: whose are read, and that reading them keeps nobody waiting. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { type ChatModel, startChatModel } from '#test/support/chat-model.ts'
import { type Gateway, startGateway } from '#test/support/gateway.ts'
import { gif } from '#test/support/images.ts'
import { longestBlock } from '#test/support/longest-block.ts'
import { startSite } from '#test/support/site-server.ts'

const base = '/api/openai/v1'
const mebibyte = 1024 * 1024

let gateway: Gateway
let model: ChatModel
let app: TestApp
let url: string
const headersOf: Record<string, Record<string, string>> = { nobody: {} }

beforeAll(async () => {
  gateway = await startGateway()
  model = await startChatModel()
  const environment = { PUBLIC_ACCESS: 'read', OUTBOUND_ALLOW: '127.0.0.1' }
  app = await buildApp({ environment: { ...gateway.environment, ...model.environment, ...environment } })
  url = await app.listen()
  for (const who of ['ada', 'stranger']) headersOf[who] = await gateway.headers(`${who}@example.com`)
  await makeAgent(app, { name: 'ours', headers: headersOf.ada ?? {} })
})

afterAll(async () => {
  await app.close()
  await model[Symbol.asyncDispose]()
  await gateway.close()
})

interface Sent {
  who?: string
  path?: string
  isChunked?: boolean
}

async function send(body: string, { who = 'ada', path = '/chat/completions', isChunked = false }: Sent = {}) {
  const response = await fetch(`${url}${base}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headersOf[who] },
    body: isChunked ? new Blob([body]).stream() : body,
    ...(isChunked && { duplex: 'half' }),
  })
  const answer = (await response.json()) as { error?: { message: string; code: string } }
  return { status: response.status, message: answer.error?.message, code: answer.error?.code }
}

/** The conversation that a client sends, with this content of its question. */
const bodyOf = (content: unknown, others = {}) =>
  JSON.stringify({ model: 'ours', messages: [{ role: 'user', content }], ...others })
const text = (length: number) => 'tide '.repeat(Math.ceil(length / 5)).slice(0, length)
const fileOf = (content: Uint8Array | string, filename = 'tides.txt') => {
  const file_data = `data:text/plain;base64,${Buffer.from(content).toString('base64')}`
  return { type: 'file', file: { filename, file_data } }
}
const asked = () => JSON.stringify(model.questions().at(-1)?.messages)

describe('a request of more than 1 MiB', () => {
  it.each<[who: string, length: number, isChunked: boolean, status: number]>([
    ['ada', 1.2 * mebibyte, false, 200],
    ['ada', 1.2 * mebibyte, true, 200],
    ['stranger', 1.2 * mebibyte, false, 413],
    ['stranger', 1000, true, 413],
    ['stranger', 1000, false, 404],
    ['nobody', 1.2 * mebibyte, false, 413],
    ['nobody', 1000, false, 404],
  ])(
    'is read for callers who may chat: %s, %d bytes, chunked %s: %d',
    async (who, length, isChunked, status) => {
      const answer = await send(
        bodyOf([{ type: 'text', text: 'What is it?' }, fileOf(text(length * 0.75))]),
        {
          who,
          isChunked,
        },
      )
      expect(answer.status).toBe(status)
      if (status === 413)
        expect(answer.message).toBe(
          'Callers who may chat with no agent may send 1 MiB at most, with a Content-Length.',
        )
    },
  )

  const image = gif({ appended: Buffer.alloc(mebibyte, 'x') })
  const padded = Buffer.concat([Buffer.from('Tides: the sea is high. '), Buffer.alloc(mebibyte, 'x')])
  it.each<[what: string, body: string, path: string, shown: RegExp]>([
    ['a file', bodyOf([fileOf(padded)]), '/chat/completions', /tides\.txt.*Tides: the sea is high/],
    [
      'a file whose slashes are escaped',
      bodyOf([fileOf(padded)]).replaceAll('/', '\\/'),
      '/chat/completions',
      /Tides: the sea is high/,
    ],
    [
      'a file of a response',
      JSON.stringify({
        model: 'ours',
        input: [{ role: 'user', content: [{ type: 'input_file', ...fileOf(padded).file }] }],
      }),
      '/responses',
      /Tides: the sea is high/,
    ],
    [
      'an image beside a text',
      bodyOf([
        { type: 'image_url', image_url: { url: `data:image/gif;base64,${image.toString('base64')}` } },
        { type: 'text', text: 'Grüße' },
      ]),
      '/chat/completions',
      /data:image\/gif;base64,.*Grüße/,
    ],
    [
      'a text that looks like a file',
      bodyOf([{ type: 'text', text: `url ${'A'.repeat(1.1 * mebibyte)}` }]),
      '/chat/completions',
      /url AAAA/,
    ],
  ])('means what a smaller one means: %s', async (_what, body, path, shown) => {
    expect(await send(body, { path })).toMatchObject({ status: 200 })
    // Not the whole text of a failure.
    expect(shown.test(asked())).toBe(true)
  })

  it.each<[what: string, body: string, status: number, message: RegExp]>([
    ['no JSON', `${bodyOf([fileOf(padded)])}]`, 400, /not valid JSON/],
    ['half of it', bodyOf([fileOf(padded)]).slice(0, -20), 400, /not valid JSON/],
    ['too many values', bodyOf([...Array(100_001).fill('          ')]), 400, /more than 100000 values/],
    ['a prototype', bodyOf([fileOf(padded)]).replace('{', '{"__proto__":{},'), 400, /__proto__/],
    [
      'a file that is none',
      bodyOf([fileOf(padded)]).replace('base64,', 'base64,%%%'),
      400,
      /must be a data URL/,
    ],
    ['texts of more than 4 MiB', bodyOf(text(4.1 * mebibyte)), 413, /have 4 MiB: send long texts as files/],
    ['more than the largest upload', bodyOf([fileOf(text(28 * mebibyte))]), 413, /too large/],
  ])('is refused as a smaller one: %s', async (_what, body, status, message) => {
    expect(await send(body)).toMatchObject({ status, message: expect.stringMatching(message) })
  })
})

/** Sends a request from a thread of its own, which makes the body, too. */
const client = `
  const { parentPort, workerData: { url, headers, length } } = require('node:worker_threads')
  const file_data = Buffer.concat([Buffer.from('%PDF-1.7 '), Buffer.alloc(length, 'x')]).toString('base64')
  const content = [{ type: 'file', file: { filename: 'a.pdf', file_data } }, { type: 'text', text: 'What is it?' }]
  const body = JSON.stringify({ model: 'ours', messages: [{ role: 'user', content }] })
  parentPort.once('message', () =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
      .then(async answer => parentPort.postMessage([answer.status, body.length, await answer.text()])))
  parentPort.postMessage('ready')`

it('a request of 34 MB keeps nobody waiting', async () => {
  const workerData = {
    url: `${url}${base}/chat/completions`,
    headers: headersOf.ada,
    length: 24.9 * mebibyte,
  }
  const thread = new Worker(client, { eval: true, workerData })
  onTestFinished(async () => void (await thread.terminate()))
  await once(thread, 'message')
  // What a first request loads is not what is measured.
  const loaded = [fileOf(`%PDF-1.7 ${text(1.1 * mebibyte)}`, 'a.pdf'), { type: 'text', text: 'What is it?' }]
  expect((await send(bodyOf(loaded))).status).toBe(200)
  let answer: unknown[] = []
  const block = await longestBlock(async () => {
    thread.postMessage('go')
    ;[answer] = await once(thread, 'message')
  })
  expect(answer.slice(0, 2)).toEqual([200, expect.toSatisfy((length: number) => length > 34_000_000)])
  expect(block).toBeLessThan(100)
})

it('files by address are counted before the first is fetched', async () => {
  let fetched = 0
  await using site = await startSite(() => {
    fetched += 1
    return 'Tides'
  })
  const parts = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ type: 'image_url', image_url: { url: `${site.url}/${n}` } }))
  for (const [count, message] of [
    [11, /must not have more than 10 files by address: send others as data/],
    [51, /must not have more than 50 files/],
  ] as const)
    expect(await send(bodyOf(parts(count)))).toMatchObject({
      status: 400,
      message: expect.stringMatching(message),
    })
  expect(fetched).toBe(0)
  expect((await send(bodyOf(parts(10)))).status).toBe(200)
  expect(fetched).toBe(10)
})
