/** The views of browser sessions: the service's own pages in frames, in the real browser on the real service. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { openSession } from '#test/support/browser-stage.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { startGateway } from '#test/support/gateway.ts'
import { type Site, startSite } from '#test/support/site-server.ts'
import { type ConsoleBrowser, expectAccessible, startConsoleBrowser, tabTo } from './console-browser.ts'

let browser: ConsoleBrowser
let app: TestApp
let origin: string
let site: Site

beforeAll(async () => {
  browser = await startConsoleBrowser()
  app = await buildApp({ environment: { DEV_USER: 'ada@example.com', OUTBOUND_ALLOW: '127.0.0.1' } })
  origin = await app.listen()
  site = await startSite(() => '<title><img src=x onerror=alert(1)></title><h1>Shop</h1>')
})

afterAll(async () => {
  await browser.close()
  await app.close()
  await site[Symbol.asyncDispose]()
})

it('is opened, watched, taken over, handed back, ended and replayed by keyboard alone', async () => {
  const page = await browser.open(origin, { path: '/a/default/browser' })
  await page.getByRole('heading', { name: 'No browser sessions yet' }).waitFor()
  await tabTo(page, 'button', 'Open a browser')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Control+Enter')
  await page.getByTitle('Live picture of the browser').waitFor()
  const id = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '')
  const path = `/api/agents/default/browser/${id}`
  await app.call('POST', `${path}/execute`, { body: { action: 'navigate', url: site.url } })
  const live = page.frameLocator('iframe')
  await live.getByText('Live: the agent drives').waitFor()

  await tabTo(page, 'button', 'Take over')
  await page.keyboard.press('Enter')
  // The page of a takeover is framed by the console alone.
  await live.getByText('You drive').waitFor()
  await app.call('POST', `${path}/takeover/end`, { body: {} })
  await live.getByText('Live: the agent drives').waitFor()

  await tabTo(page, 'button', 'End session')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await tabTo(page, 'button', 'End session')
  await page.keyboard.press('Enter')
  await page.getByTitle('Replay of the session').waitFor()
  await page.getByRole('link', { name: 'All sessions' }).click()
  await page.getByRole('row').filter({ hasText: 'ended' }).waitFor()
})

it('what asks for a person says why, without violations, and what is over says so', async () => {
  const { id, path } = await openSession(app)
  const reason = '</script><img src=x onerror=alert(1)> \u202eedoc'
  await app.call('POST', `${path}/takeover`, { body: { reason: `${reason}${'x'.repeat(900)}` } })
  const page = await browser.open(origin, { path: '/a/default/browser' })
  await expectAccessible(page, () => page.getByText('a person is needed').waitFor())
  await page.goto(`${origin}/a/default/browser/${encodeURIComponent(id)}`)
  await expectAccessible(page, () => page.getByTitle('The browser, which you control').waitFor())
  await page.frameLocator('iframe').getByText(reason, { exact: false }).waitFor()
  await app.call('DELETE', `/api/agents/default/browser?id=${id}`)
  await page.getByRole('heading', { name: 'Nothing was recorded of this session' }).waitFor()
  expect(await page.locator('iframe').count()).toBe(0)
})

it('viewers watch, and learn whom the agent waits for', async () => {
  const gateway = await startGateway()
  onTestFinished(() => gateway.close())
  const behind = await buildApp({ environment: gateway.environment })
  onTestFinished(() => behind.close())
  const address = await behind.listen()
  const [owner, reader] = await Promise.all([
    gateway.headers('ada@example.com'),
    gateway.headers('grace@example.com'),
  ])
  const agentId = await makeAgent(behind, { headers: owner })
  await giveRole(behind, agentId, { email: 'grace@example.com', role: 'viewer', headers: owner })
  const api = `/api/agents/${agentId}/browser`
  const { body } = await behind.call<{ id: string }>('POST', api, { body: {}, headers: owner })
  await behind.call('POST', `${api}/${body.id}/takeover`, { body: { reason: 'Sign in' }, headers: owner })
  const path = `/a/${agentId}/browser/${encodeURIComponent(body.id)}`
  const page = await browser.open(address, { path, headers: reader })
  await expectAccessible(page, () => page.getByText('ada@example.com asked for a person').waitFor())
  await page.frameLocator('iframe').getByText('Waiting for a person to drive').waitFor()
  expect(await page.getByRole('button', { name: /Take over|End session/ }).count()).toBe(0)
})
