/** Pages that look for this machine and its network by every way that a browser has: none may lead anywhere. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { openSession } from '#test/support/browser-stage.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { hostilePage } from '#test/support/hostile-page.ts'
import { useNameServer } from '#test/support/name-server.ts'
import { type AnswerSite, startSite } from '#test/support/site-server.ts'

/** Where the site of the page answers, which the operator allows. */
const permitted = '127.0.0.1'

let app: TestApp

beforeAll(async () => {
  app = await buildApp({ environment: { OUTBOUND_ALLOW: permitted } })
})

afterAll(() => app.close())

/** Counts what arrives at one port of this machine, at whichever of its addresses but that of the site. */
async function startCanary() {
  const connections: string[] = []
  const packets: string[] = []
  const tcp = createServer(socket => {
    connections.push(`${socket.localAddress}`)
    socket.on('error', () => {})
    socket.end('HTTP/1.1 200 OK\r\naccess-control-allow-origin: *\r\ncontent-length: 3\r\n\r\nsee')
  }).listen(0, '127.0.0.2')
  await once(tcp, 'listening')
  const { port } = tcp.address() as AddressInfo
  const udp = createSocket('udp4', message => packets.push(message.toString('hex', 0, 8)))
  udp.bind(port, '127.0.0.2')
  await once(udp, 'listening')
  onTestFinished(() => {
    tcp.close()
    udp.close()
  })
  return { port, connections, packets }
}

async function tryEverything(on: TestApp, host: string) {
  const canary = await startCanary()
  const reports: string[] = []
  const answer: AnswerSite = ({ path }) => {
    const { pathname, searchParams } = new URL(path, 'http://site')
    if (pathname === '/report') reports.push(searchParams.get('what') ?? '')
    if (pathname === '/to') return { status: 307, headers: { location: searchParams.get('url') ?? '' } }
    if (pathname === '/worker.js')
      return { headers: { 'content-type': 'text/javascript' }, body: hostilePage.worker }
    return pathname === '/' ? hostilePage.html : ''
  }
  const site = await startSite(answer)
  onTestFinished(() => site[Symbol.asyncDispose]())
  const { session } = await openSession(on)
  const page = await session.page()
  // Its load may never end: Chromium waits for a frame, which waits for a tab that is being opened.
  await page.goto(`${site.url}/?target=${host}:${canary.port}`, { waitUntil: 'commit' })
  await eventually(() => expect(reports).toContain('all was tried'), 120_000)
  return { ...canary, reports, session }
}

it.each([
  '127.0.0.2',
  '127.2',
  '0x7f000002',
  '2130706434',
  '0177.0.0.2',
  '[::ffff:127.0.0.2]',
  '[::ffff:7f00:2]',
])('no element, interface, worker or redirect of a page reaches %s', async host => {
  const { connections, packets, reports } = await tryEverything(app, host)
  expect([connections, packets]).toEqual([[], []])
  expect(reports.length).toBeGreaterThan(5)
  expect(reports.filter(report => report.includes('see'))).toEqual([])
})

it('the same page reaches what the operator allows', async () => {
  const open = await testApp({ environment: { OUTBOUND_ALLOW: '127.0.0.0/8' } })
  const { connections, packets, reports } = await tryEverything(open, '127.0.0.2')
  expect(connections.length).toBeGreaterThan(10)
  // What goes around the proxy goes nowhere, also then.
  expect(packets).toEqual([])
  expect(reports.filter(report => report.includes('see'))).not.toEqual([])
})

it('a name that leads to another address later is looked up anew, and refused', async () => {
  await useNameServer({ 'rebind.test': [permitted, permitted, '127.0.0.2'] })
  const canary = await startCanary()
  const site = await startSite(() => ({ headers: { connection: 'close' }, body: 'Hello' }))
  onTestFinished(() => site[Symbol.asyncDispose]())
  const { session } = await openSession(app)
  const page = await session.page()
  const address = `http://rebind.test:${new URL(site.url).port}/`
  expect((await page.goto(address))?.status()).toBe(200)
  const statuses = []
  for (let n = 0; n < 3; n += 1)
    statuses.push(await page.evaluate(`fetch('/again').then(answer => answer.status)`))
  expect(statuses.at(-1)).toBe(403)
  expect(session.unreachable(address)).toMatchObject({ kind: 'refused' })
  expect(canary.connections).toEqual([])
})

it('what is refused is told with its host', async () => {
  const { session } = await openSession(app)
  const page = await session.page()
  const answer = await page.goto('http://10.1.2.3/')
  expect([answer?.status(), answer?.headers()['x-guard']]).toEqual([403, 'refused'])
  expect(session.unreachable('http://10.1.2.3/')?.message).toContain('10.1.2.3 cannot be reached: private')
  await expect(page.goto('https://10.1.2.4/')).rejects.toThrow('ERR_TUNNEL_CONNECTION_FAILED')
  expect(session.unreachable('https://10.1.2.4/')?.kind).toBe('refused')
})

it.each(['file:///etc/hostname', 'data:text/html,here', 'chrome://version', 'blob:null/x'])(
  'a tab that comes to %s is emptied, whoever opened it',
  async address => {
    const { session } = await openSession(app)
    const refused: string[] = []
    session.events.on('address.refused', ({ url }) => refused.push(url))
    const page = await session.page()
    const isOpened = await page.goto(address).then(
      () => true,
      () => false,
    )
    if (isOpened) await eventually(() => expect(refused).toEqual([address]))
    await eventually(() => expect(page.url()).toMatch(/^(about:blank|chrome-error:)/))
  },
)

it('a page can open nothing of the machine', async () => {
  const site = await startSite(() => '<title>Site</title><body>')
  onTestFinished(() => site[Symbol.asyncDispose]())
  const { session } = await openSession(app)
  const page = await session.page()
  await page.goto(site.url)
  const ways = [
    'open(address)',
    'document.body.append(Object.assign(document.createElement("iframe"), { src: address }))',
    'location.href = address',
  ]
  for (const way of ways)
    for (const address of ['file:///etc/hostname', 'chrome://version', 'view-source:http://127.0.0.1'])
      await page.evaluate(`{ const address = ${JSON.stringify(address)}; ${way} }`).catch(() => {})
  const shown = session.context.pages().flatMap(one => one.frames().map(frame => frame.url()))
  expect(shown.filter(url => !/^(?:about:blank(?:#blocked)?|http:.*|chrome-error:.*|)$/.test(url))).toEqual(
    [],
  )
})
