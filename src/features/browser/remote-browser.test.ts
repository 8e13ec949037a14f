/** Sessions in a browser that somebody else has started, without our switches. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { removeTemporaryFolder } from '#platform/temporary-folder.ts'
import { openSession } from '#test/support/browser-stage.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Site, startSite } from '#test/support/site-server.ts'
import { browserUser } from './chromium/browser-user.ts'
import { bundledChromium } from './chromium/bundled.ts'
import { makeProfileFolder } from './chromium/profile-folder.ts'
import { BrowserSession } from './sessions/browser-session.ts'

const path = '/api/agents/default/browser'
const environment = {
  DEV_USER: 'dev@example.com',
  OUTBOUND_ALLOW: '127.0.0.1',
  BROWSER_PROXY_HOST: '127.0.0.1',
}

let app: TestApp
let site: Site
let folder: string
let remote: ChildProcess
let port: number
const opened = vi.spyOn(BrowserSession, 'open')

beforeAll(async () => {
  folder = await makeProfileFolder()
  site = await startSite(({ path: asked }) =>
    asked === '/file'
      ? { headers: { 'content-disposition': 'attachment; filename="a.txt"' }, body: 'File' }
      : '<title>Shop</title><a href="/file">File</a>',
  )
  port = await start(0)
  app = await buildApp({ environment: { ...environment, BROWSER_CDP_URL: `http://127.0.0.1:${port}` } })
})

afterAll(async () => {
  await app.close()
  await kill()
  await removeTemporaryFolder(folder)
  await site[Symbol.asyncDispose]()
})

/** As an operator would, but on this machine; gives its port. */
async function start(wanted: number): Promise<number> {
  const { path: program, libraries = '', fonts = '' } = await bundledChromium(folder)
  const switches = [
    '--headless',
    '--no-sandbox',
    `--remote-debugging-port=${wanted}`,
    `--user-data-dir=${folder}/profile`,
  ]
  remote = spawn(program, switches, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { HOME: folder, TMPDIR: folder, LD_LIBRARY_PATH: libraries, FONTCONFIG_PATH: fonts },
    ...browserUser,
  })
  if (remote.stderr === null) throw new Error('there is no output')
  for await (const line of createInterface(remote.stderr)) {
    const given = /DevTools listening on ws:\/\/[^:]+:(\d+)/.exec(line)?.[1]
    if (given === undefined) continue
    remote.stderr.resume()
    return Number(given)
  }
  throw new Error('the browser did not start')
}

async function kill(): Promise<void> {
  const ended = once(remote, 'exit')
  remote.kill('SIGKILL')
  await ended
}

const add = { action: 'evaluate', expression: '1 + 1' }
const execute = (id: string, body: object) => app.call('POST', `${path}/${id}/execute`, { body })

/** The proxy that the newest session was given. */
function newestProxy() {
  const [options] = opened.mock.lastCall ?? []
  if (options === undefined) throw new Error('no session was opened')
  return options.proxy
}

/** The statuses that the proxy gives for a request and for a tunnel. */
async function statusesOf(address: string, authorization?: string): Promise<(number | undefined)[]> {
  const headers = authorization === undefined ? {} : { 'proxy-authorization': authorization }
  const proxy = new URL(address)
  const about = { host: proxy.hostname, port: proxy.port, headers, agent: false } as const
  const plain = request({ ...about, path: `${site.url}/direct` }).end()
  const [answer] = await once(plain, 'response')
  answer.resume()
  const tunnel = request({ ...about, method: 'CONNECT', path: new URL(site.url).host }).end()
  const [back, socket] = await once(tunnel, 'connect')
  socket.destroy()
  return [answer.statusCode, back.statusCode]
}

it('opens pages through the guard, and no others', async () => {
  const { id } = await openSession(app)
  expect(await execute(id, { action: 'navigate', url: site.url })).toMatchObject({
    status: 200,
    body: { result: { title: 'Shop', status: 200 } },
  })
  expect(site.requests.every(({ headers }) => headers['proxy-authorization'] === undefined)).toBe(true)
  for (const url of ['http://10.1.2.3/', 'http://127.0.0.2/', 'http://[::1]/', 'http://localhost.nowhere/'])
    expect(await execute(id, { action: 'navigate', url })).toMatchObject({
      body: { error: expect.anything() },
    })
})

it('has no interface in its pages that goes around the proxy', async () => {
  const { session } = await openSession(app)
  const page = await session.page()
  await page.goto(site.url)
  const interfaces = `(window => [window.RTCPeerConnection, window.webkitRTCPeerConnection, window.WebTransport])`
  expect(await page.evaluate(`${interfaces}(window).map(one => typeof one)`)).toEqual(
    Array(3).fill('undefined'),
  )
  const framed = `const frame = document.createElement('iframe'); document.body.append(frame)`
  expect(
    await page.evaluate(`{ ${framed}; ${interfaces}(frame.contentWindow).map(one => typeof one) }`),
  ).toEqual(Array(3).fill('undefined'))
})

it('asks for the credentials of each session', async () => {
  await openSession(app)
  const first = newestProxy()
  await openSession(app)
  const second = newestProxy()
  const basic = ({ username = '', password = '' } = {}) =>
    `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  expect(await statusesOf(first.address)).toEqual([407, 407])
  expect(await statusesOf(first.address, basic(second.credentials))).toEqual([407, 407])
  expect(await statusesOf(first.address, basic(first.credentials))).toEqual([200, 200])
})

it('says that downloads are elsewhere, and has no windows', async () => {
  const { id } = await openSession(app)
  await execute(id, { action: 'navigate', url: site.url })
  const answer = await execute(id, { action: 'click', selector: 'a' })
  expect(answer).toMatchObject({
    body: {
      result: { downloads: [{ state: 'refused', error: expect.stringContaining('BROWSER_CDP_URL') }] },
    },
  })
  expect(await app.call('POST', path, { body: { headless: false } })).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining('BROWSER_CDP_URL') } },
  })
})

it('ends sessions in error when it is killed, and the next one connects anew', async () => {
  const { id } = await openSession(app)
  await kill()
  await eventually(async () =>
    expect(await app.call('GET', `${path}/${id}`)).toMatchObject({ body: { status: 'error' } }),
  )
  expect(await app.call('POST', path, { body: {} })).toMatchObject({
    status: 500,
    body: { error: { code: 'BROWSER_UNAVAILABLE', message: expect.stringContaining(`127.0.0.1:${port}`) } },
  })
  await start(port)
  const next = await openSession(app)
  expect(await execute(next.id, { action: 'navigate', url: site.url })).toMatchObject({ status: 200 })
})

/** Passes all on between the service and the browser; what it adds, the browser seems to have sent. */
async function startRelay() {
  const sockets: Socket[] = []
  const server = createServer(socket => {
    const browser = connect(port, '127.0.0.1')
    sockets.push(socket)
    browser.pipe(socket).pipe(browser)
    for (const one of [browser, socket]) one.on('error', () => {})
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, newest: () => sockets.at(-1) as Socket }
}

const frame = (text: string) => Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)])
const breaks: [name: string, act: (socket: Socket) => unknown][] = [
  ['is reset', socket => socket.resetAndDestroy()],
  ['is closed', socket => socket.write(Buffer.from([0x88, 0]))],
  ['ends within a frame', socket => socket.end(Buffer.from([0x81, 126, 255]))],
  ['holds no frames', socket => socket.write('HTTP/1.1 200 OK')],
  ['holds no JSON', socket => socket.write(frame('no JSON'))],
]

it('ends sessions in error when the connection breaks, however, and the next one connects anew', async () => {
  const relay = await startRelay()
  const BrowserCdpUrl = `http://127.0.0.1:${relay.port}`
  const other = await testApp({ environment: { ...environment, BROWSER_CDP_URL: BrowserCdpUrl } })
  onTestFinished(() => other.close())
  for (const [name, act] of breaks) {
    const { id } = await openSession(other)
    // What belongs to the connection itself is no message, and changes nothing.
    relay.newest().write(Buffer.from([0x89, 1, 65]))
    expect(await other.call('POST', `${path}/${id}/execute`, { body: add }), name).toMatchObject({
      status: 200,
    })
    act(relay.newest())
    await eventually(async () =>
      expect(await other.call('GET', `${path}/${id}`), name).toMatchObject({ body: { status: 'error' } }),
    )
  }
  expect((await openSession(other)).id).toBeTruthy()
})

it('ends a session whose page has the browser send too much, and no other', async () => {
  const [{ id }, neighbour] = [await openSession(app), await openSession(app)]
  const expression = `console.log('\\u0001'.repeat(4e6)), new Promise(() => {})`
  expect(await execute(id, { action: 'evaluate', expression, timeout: 60_000 })).toMatchObject({
    body: {
      error: { message: expect.stringMatching(/^A page of this session had its browser send 23 MiB/) },
    },
  })
  expect(await app.call('GET', `${path}/${id}`)).toMatchObject({ body: { status: 'error' } })
  expect(await execute(neighbour.id, add)).toMatchObject({ body: { result: { value: 2 } } })
})

it('never tells the credentials of its address', async () => {
  const other = await testApp({
    environment: {
      ...environment,
      BROWSER_CDP_URL: 'http://operator:hidden-word@127.0.0.1:9/?token=hidden-word',
    },
  })
  onTestFinished(() => other.close())
  const answer = await other.call('POST', path, { body: {} })
  expect(answer).toMatchObject({ status: 500, body: { error: { code: 'BROWSER_UNAVAILABLE' } } })
  expect(JSON.stringify([answer, other.logged])).not.toContain('hidden-word')
})
