import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as sendRequest,
} from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type AnswerSite, type Site, startSite } from '#test/support/site-server.ts'
import { createForwardProxy, type ForwardProxy } from './forward-proxy.ts'
import { createOutbound } from './outbound.ts'

let proxy: ForwardProxy
let site: Site
let answer: AnswerSite = () => 'Hello'
const outbound = createOutbound({ allow: ['127.0.0.1'], userAgent: 'test' })

beforeAll(async () => {
  site = await startSite((request, response) => answer(request, response))
  proxy = await createForwardProxy({ connect: outbound.connect, owner: 'agent' })
})

afterAll(async () => {
  await proxy.close()
  await outbound.close()
  await site[Symbol.asyncDispose]()
})

interface Sent {
  method?: string
  headers?: OutgoingHttpHeaders
  body?: string
}

/** As a browser asks a proxy. */
async function ask(url: string, { body, ...sent }: Sent = {}) {
  const request = sendRequest(proxy.address, { path: url, ...sent })
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

async function openTunnel(target: string): Promise<{ socket: Socket; first: string }> {
  const socket = connect(Number(new URL(proxy.address).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n\r\n`)
  const [first] = (await once(socket, 'data')) as [Buffer]
  return { socket, first: first.toString() }
}

it('passes requests and answers on as they are, without what concerns one connection', async () => {
  answer = () => ({
    status: 201,
    headers: { 'X-Guard': 'refused', connection: 'x-own', 'x-own': '1', etag: '"a"' },
  })
  const headers = { host: 'elsewhere', 'proxy-authorization': 'Basic x' }
  const got = await ask(`${site.url}/a?b=%20c`, { method: 'POST', headers, body: 'body' })
  const asked = site.requests.at(-1)
  expect(asked).toMatchObject({ method: 'POST', path: '/a?b=%20c', headers: { host: 'elsewhere' } })
  expect(asked?.headers).not.toHaveProperty('proxy-authorization')
  expect(got).toMatchObject({ status: 201, headers: { etag: '"a"' } })
  expect(got.headers).not.toHaveProperty('x-guard')
  expect(got.headers).not.toHaveProperty('x-own')
})

it('carries connections that it need not understand', async () => {
  answer = () => 'Through the tunnel'
  const { socket, first } = await openTunnel(new URL(site.url).host)
  expect(first).toMatch(/^HTTP\/1\.1 200 /)
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  expect(await text(socket)).toContain('Through the tunnel')
})

it('says which host it refused and which could not be reached, and forgets that when it is', async () => {
  const refused = await ask('http://10.0.0.1/')
  expect(refused).toMatchObject({ status: 403, headers: { 'x-guard': 'refused' } })
  expect(refused.body).toContain('10.0.0.1 cannot be reached')
  expect(proxy.unreachable('10.0.0.1')).toMatchObject({ kind: 'refused', message: refused.body })
  expect((await openTunnel('10.0.0.2:443')).first).toMatch(/^HTTP\/1\.1 403 .*x-guard: refused/s)
  expect(proxy.unreachable('10.0.0.2')).toMatchObject({ kind: 'refused' })

  const closing = createServer()
  closing.listen(0, '127.0.0.1')
  await once(closing, 'listening')
  const { port } = closing.address() as AddressInfo
  closing.close()
  const failed = await ask(`http://127.0.0.1:${port}/`)
  expect(failed).toMatchObject({ status: 502, headers: { 'x-guard': 'failed' } })
  expect(failed.body).toContain('it refused the connection')
  closing.on('request', (_request, response) => response.end('Here')).listen(port, '127.0.0.1')
  onTestFinished(() => void closing.close().closeAllConnections())
  expect(await ask(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200, body: 'Here' })
  expect(proxy.unreachable(`127.0.0.1:${port}`)).toBeUndefined()
})

it('takes whole http addresses only', async () => {
  for (const url of ['/', 'https://example.com/', 'ftp://example.com/', 'file:///etc/hostname'])
    expect((await ask(url)).status).toBe(400)
})

it('asks again where a kept connection was closed meanwhile', async () => {
  const used = new WeakSet<object>()
  answer = (_request, response) => {
    const { socket } = response
    if (socket === null) return null
    if (!used.has(socket)) {
      used.add(socket)
      return 'On a fresh connection'
    }
    socket.destroy()
    return null
  }
  for (let n = 0; n < 3; n += 1)
    expect(await ask(site.url)).toMatchObject({ status: 200, body: 'On a fresh connection' })
  expect((await ask(site.url, { method: 'POST', body: 'not twice' })).status).toBe(502)
})

it('breaks an answer that was broken', async () => {
  answer = (_request, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('half', () => response.destroy())
    return null
  }
  await expect(ask(site.url)).rejects.toThrow(/aborted/)
})

it.each([
  ['HTTP/1.1 042 Low', 502],
  ['HTTP/1.1 200 O\u0001K', 200],
])('survives the answer %j', async (line, status) => {
  const hostile = createTcpServer(socket => socket.end(`${line}\r\ncontent-length: 2\r\n\r\nHi`))
  hostile.listen(0, '127.0.0.1')
  await once(hostile, 'listening')
  onTestFinished(() => void hostile.close())
  const got = await ask(`http://127.0.0.1:${(hostile.address() as AddressInfo).port}/`)
  expect(got.status).toBe(status)
})

it('ends every connection when it is closed', async () => {
  const own = await createForwardProxy({ connect: outbound.connect, owner: 'agent' })
  const socket = connect(Number(new URL(own.address).port), '127.0.0.1')
  socket.write(`CONNECT ${new URL(site.url).host} HTTP/1.1\r\n\r\n`)
  await once(socket, 'data')
  await Promise.all([own.close(), once(socket, 'close')])
  expect(socket.destroyed).toBe(true)
})
