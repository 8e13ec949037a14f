/**
 * Pages that are not ours, in the real Chromium of a person who is signed in, try every route that the service declares: by
 * `fetch`, forms, images and WebSockets.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bundledChromium } from '#features/browser/chromium/bundled.ts'
import { buildApp, type TestApp } from '../support/build-app.ts'

interface Attack {
  service: string
  calls: { method: string; path: string }[]
  channels: string[]
  /** Milliseconds after which a channel counts as open. */
  openMs: number
}

let app: TestApp
let browser: Browser
let context: BrowserContext
let foreign: Server
let attack: Attack
let agentId: string
let port: string

/** Runs in the page: tries everything, and tells what it could read. */
const script = `async ({ service, calls, channels, openMs }) => {
  const read = []
  const tell = answer => answer.text().then(text => read.push(answer.type + ' ' + text), () => {})
  const send = (url, options) => fetch(url, options).then(tell, () => {})
  const taken = '{"description":"taken","name":"taken","email":"eve@example.com","role":"owner"}'
  const shown = (element, url) => new Promise(done => {
    element.onload = element.onerror = done
    element.src = url
  })
  const post = (url, name) => new Promise(done => {
    const frame = Object.assign(document.createElement('iframe'), { name })
    const form = Object.assign(document.createElement('form'), { method: 'post', action: url, target: name, enctype: 'text/plain' })
    form.append(Object.assign(document.createElement('input'), { name: '{"description":"taken","x":"', value: '"}' }))
    document.body.append(frame, form)
    frame.onload = done
    form.submit()
    setTimeout(done, 1000)
  })
  const attempt = ({ method, path }, at) => {
    const url = service + path
    const given = method === 'GET' ? { method } : { method, headers: { 'content-type': 'application/json' }, body: taken }
    const simple = { method, mode: 'no-cors', credentials: 'include', ...(method === 'GET' ? {} : { body: taken }) }
    return Promise.all([
      send(url, { ...given, credentials: 'include' }),
      send(url, { ...given, credentials: 'omit' }),
      /GET|POST/.test(method) && send(url, simple),
      method === 'GET' && shown(new Image(), url),
      method === 'POST' && post(url, 'frame-' + at),
    ])
  }
  for (let at = 0; at < calls.length; at += 25)
    await Promise.all(calls.slice(at, at + 25).map((call, index) => attempt(call, at + index)))
  await Promise.all(channels.map(path => new Promise(done => {
    const socket = new WebSocket(service.replace('http', 'ws') + path)
    socket.onmessage = ({ data }) => read.push('socket ' + data)
    socket.onclose = ({ code }) => done(read.push('closed ' + code))
    setTimeout(() => done(read.push('stayed open')), openMs)
  })))
  return read
}`

beforeAll(async () => {
  app = await buildApp()
  port = new URL(await app.listen()).port
  const service = `http://localhost:${port}`
  foreign = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><body>'),
  )
  await new Promise<void>(resolve => foreign.listen(0, '127.0.0.1', resolve))
  const { path, libraries = '', fonts = '' } = await bundledChromium(tmpdir())
  browser = await chromium.launch({
    executablePath: path,
    args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP *.example 127.0.0.1'],
    env: { LD_LIBRARY_PATH: libraries, FONTCONFIG_PATH: fonts, LANG: 'C.UTF-8' },
  })
  // The policy of our own answers would keep pages from trying.
  context = await browser.newContext({ bypassCSP: true })
  const { id, sessionId } = await signIn(service)
  agentId = id
  const tried = app.routes
    .filter(({ method, url }) => method !== 'HEAD' && url.startsWith('/api/'))
    .map(({ method, url }) => ({ method, path: url.replace(':id', agentId).replaceAll(/:\w+|\*/g, 'x') }))
  const channels = ['cast', 'logs', 'pageId', 'recording'].map(
    name => `/v1/sessions/${name}?sessionId=${sessionId}`,
  )
  // Long, since a busy machine is slow to close one.
  attack = {
    service,
    channels,
    openMs: 60_000,
    calls: tried.filter(({ path: one }) => !one.includes('/auth/callback')),
  }
  expect(attack.calls.length).toBeGreaterThan(150)
})

afterAll(async () => {
  await browser.close()
  await new Promise(resolve => foreign.close(resolve))
  await app.close()
})

/** Signs in from a page of ours, and makes from there an agent with a browser session. */
async function signIn(service: string) {
  const page = await context.newPage()
  await page.goto(`${service}/healthz`)
  const token = (await app.service.firstLink(service))?.split('#token=')[1] ?? ''
  const made = await page.evaluate(async given => {
    const post = async (path: string, content: object) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(content) })
      return (await answer.json()) as Record<string, string>
    }
    await post('/api/auth/link', { token: given })
    const { id = '' } = await post('/api/agents', { name: 'private-agent' })
    const session = await post(`/api/agents/${id}/browser`, {})
    return { id, sessionId: session.sessionId ?? session.id ?? '' }
  }, token)
  expect(made).toEqual({ id: expect.stringMatching(/./), sessionId: expect.stringMatching(/./) })
  const [cookie, ...others] = await context.cookies()
  expect(others).toEqual([])
  expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Strict', path: '/' })
  expect(cookie?.name).toMatch(/^__Host-agentstead-\w{8}-session$/)
  await page.close()
  return made
}

/** What came of each request to the person's own agent or account, of those that succeeded. */
function succeeded(since: number): string[] {
  const lines = app.logged.slice(since).map(line => JSON.parse(line))
  return lines
    .filter(
      ({ msg, method, status, path }) =>
        msg === 'request' &&
        method !== 'OPTIONS' &&
        status !== 101 &&
        status < 400 &&
        (path.includes(agentId) || /sessions|keys|invitations/.test(path)),
    )
    .map(({ method, path, status }) => `${method} ${path} ${status}`)
}

it.each<[string, () => string, string?]>([
  ['another port of localhost', () => `http://localhost:${(foreign.address() as AddressInfo).port}/`],
  ['another site', () => `http://else.example:${(foreign.address() as AddressInfo).port}/`],
  ['a sandboxed frame', () => `http://localhost:${(foreign.address() as AddressInfo).port}/`, 'sandboxed'],
  ['a name that was bound to our address', () => `http://rebound.example:${port}/healthz`],
])('a page of %s changes nothing, and reads nothing that is not public', async (_where, url, kind) => {
  const page = await context.newPage()
  await page.goto(url())
  let target = page.mainFrame()
  if (kind === 'sandboxed') {
    await page.setContent(
      '<iframe sandbox="allow-scripts allow-forms" srcdoc="<!doctype html><body>"></iframe>',
    )
    target = (await page.$('iframe').then(frame => frame?.contentFrame())) ?? target
  }
  const since = app.logged.length
  const service = url().includes('rebound') ? `http://rebound.example:${port}` : attack.service
  const given = JSON.stringify({ ...attack, service })
  const read = await target.evaluate<string[]>(`(${script})(${given})`)
  expect(app.logged.length - since).toBeGreaterThan(attack.calls.length)
  expect(succeeded(since)).toEqual([])
  expect(read.join('\n')).not.toMatch(/private-agent|"email":"owner@localhost|socket|stayed/)
  expect(read.filter(one => one === 'closed 4403')).toHaveLength(4)
  await page.close()
})

it('our own page does all of it', async () => {
  const page = await context.newPage()
  await page.goto(`${attack.service}/healthz`)
  const put = attack.calls.filter(({ method, path }) => method === 'PUT' && path === `/api/agents/${agentId}`)
  const since = app.logged.length
  const me = { method: 'GET', path: '/api/auth/me' }
  const own = JSON.stringify({ ...attack, calls: [me], openMs: 1000 })
  const read = await page.evaluate<string[]>(`(${script})(${own})`)
  expect(read.join()).toContain('owner@localhost')
  expect(read.filter(one => one === 'stayed open').length).toBeGreaterThan(2)
  await page.evaluate<string[]>(`(${script})(${JSON.stringify({ ...attack, channels: [], calls: put })})`)
  expect(succeeded(since)).toEqual([`PUT /api/agents/${agentId} 200`])
  await page.close()
})
