/** The frame of the console and the views of agents, in the real browser on the real service. */
import { readFileSync } from 'node:fs'
import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { startGateway } from '#test/support/gateway.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import {
  type ConsoleBrowser,
  expectAccessible,
  findViolations,
  startConsoleBrowser,
  tabTo,
} from './console-browser.ts'

let browser: ConsoleBrowser
let app: TestApp
let origin: string

beforeAll(async () => {
  browser = await startConsoleBrowser()
  app = await buildApp({ environment: { DEV_USER: 'ada@example.com' } })
  origin = await app.listen()
})

afterAll(async () => {
  await browser.close()
  await app.close()
})

interface BuiltFile {
  path: string
  sizes: { gz?: number }
}

interface Chunk {
  file: string
  css?: string[]
  imports?: string[]
  isDynamicEntry?: boolean
}

it('the first load and each view keep to their budgets', () => {
  const dist = new URL('../../console/dist/', import.meta.url)
  const read = <Content>(name: string) => JSON.parse(readFileSync(new URL(name, dist), 'utf8')) as Content
  const sizes = new Map(read<BuiltFile[]>('files.json').map(({ path, sizes }) => [path, sizes.gz ?? 0]))
  const manifest = read<Record<string, Chunk>>('manifest.json')
  const closure = (name: string, seen: Set<string> = new Set()): Set<string> => {
    const chunk = manifest[name]
    if (chunk === undefined || seen.has(chunk.file)) return seen
    for (const file of [chunk.file, ...(chunk.css ?? [])]) seen.add(file)
    for (const one of chunk.imports ?? []) closure(one, seen)
    return seen
  }
  const sum = (files: Iterable<string>) =>
    [...files].reduce((total, file) => total + (sizes.get(file) ?? 0), 0) / 1024
  const first = closure('index.html')
  expect(sum(first)).toBeLessThan(160)
  // pdf.js is loaded when a PDF is opened, and by nothing else.
  const views = Object.keys(manifest).filter(
    name => manifest[name]?.isDynamicEntry && !name.endsWith('/pdf-document.tsx'),
  )
  expect(views.length).toBeGreaterThan(2)
  const heavy = views.map(name => [name, sum(closure(name).difference(first))] as const)
  expect(heavy.filter(([, size]) => size > 130)).toEqual([])
})

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()

describe('a new visitor', () => {
  it('is greeted by three steps that work without a model key', async () => {
    const page = await browser.open(origin)
    await page.waitForURL('**/a/default/home')
    await page.getByRole('region', { name: 'Three steps to a first answer' }).waitFor()
    await page
      .getByLabel('Upload a document')
      .locator('input')
      .setInputFiles({
        name: 'kiln.md',
        mimeType: 'text/markdown',
        buffer: Buffer.from('# Kiln\n\nThe kiln is fired at 1280 degrees.'),
      })
    await page.getByText('kiln can be asked about.').waitFor()
    await page.getByRole('link', { name: 'Ask a question' }).click()
    await page.locator('textarea:focus').waitFor()
    await page.keyboard.type('How hot is the kiln?')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /^1 kiln/ }).click()
    await page.locator('mark').getByText('1280 degrees').waitFor()
  })

  it('finds every view without a violation, in both themes, wide, on a phone and at 320 pixels', async () => {
    const page = await browser.open(origin, { path: '/a/default/home' })
    await expectAccessible(page, () => page.getByText('Model', { exact: true }).waitFor())
    await page.goto(`${origin}/a/default/agents`)
    await expectAccessible(page, () => page.getByRole('table').waitFor())
  })
})

it('what opens over a view is free of violations too', async () => {
  const page = await browser.open(origin, {
    path: '/a/default/agents',
    width: 390,
    theme: 'dark',
    expected: /400/,
  })
  const shown = async (close = true) => {
    expect(await findViolations(page)).toEqual([])
    if (close) await page.keyboard.press('Escape')
  }
  await page.getByRole('table').waitFor()
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('dialog', { name: 'Menu' }).waitFor()
  await shown()
  await page.getByRole('button', { name: 'Appearance' }).click()
  await page.getByRole('menuitemcheckbox', { name: 'Dark' }).waitFor()
  await shown()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').waitFor()
  await shown()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await shown()
  await page.getByRole('button', { name: 'Create agent' }).click()
  await page.getByRole('dialog', { name: 'Create agent' }).waitFor()
  await page.getByLabel('Name').fill('not valid!')
  await page.keyboard.press('Enter')
  await page.getByText('name', { exact: false }).first().waitFor()
  await shown()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

describe('by keyboard alone', () => {
  it('commands lead to a view, whose name then has the focus', async () => {
    const page = await browser.open(origin, { path: '/a/default/home' })
    await heading(page, 'Overview')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('agents')
    await page.keyboard.press('Enter')
    await heading(page, 'Agents')
    await page.locator('h1:focus').waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('o')
    await heading(page, 'Overview')
    await expect.poll(() => page.title()).toBe('Overview · default · agentstead')
  })

  it('an agent is created, paused, resumed and deleted', async () => {
    const name = `keys-${Date.now()}`
    const page = await browser.open(origin, { path: '/a/default/agents' })
    await tabTo(page, 'button', 'Create agent')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo(page, 'textbox', /^Name/)
    await page.keyboard.type(name)
    const isSentOnce = Promise.withResolvers<void>()
    let sent = 0
    await page.route(/\/api\/agents$/, async route => {
      sent += 1
      await isSentOnce.promise
      await route.continue()
    })
    await page.keyboard.press('Control+Enter')
    await page.keyboard.press('Control+Enter')
    isSentOnce.resolve()
    await page.getByRole('link', { name }).waitFor()
    expect(sent).toBe(1)
    await page.getByText(`“${name}” was created.`).waitFor()
    const row = page.getByRole('row').filter({ hasText: name })
    const choose = async (item: string) => {
      await tabTo(page, 'button', `Actions for ${name}`)
      await page.keyboard.press('Enter')
      await page.locator('[role=menuitem]:focus').waitFor()
      await page.keyboard.press(item.slice(0, 1))
      await page.keyboard.press('Enter')
    }
    await choose('Pause')
    await row.getByText('paused', { exact: true }).waitFor()
    await choose('Delete')
    await tabTo(page, 'textbox', `Type “${name}” to confirm`)
    await page.keyboard.type(name)
    await tabTo(page, 'button', 'Delete')
    await page.keyboard.press('Enter')
    await row.waitFor({ state: 'detached' })
  })
})

it('a server that is killed and comes back needs no reload', async () => {
  const dataDirectory = temporaryDirectory()
  const environment = { DEV_USER: 'ada@example.com' }
  const first = await buildApp({ environment, dataDirectory })
  const address = await first.listen()
  const page = await browser.open(address, { path: '/a/default/agents', expected: /Failed to load resource/ })
  await page.getByRole('table').waitFor()
  await first.close()
  await page.getByRole('button', { name: 'Create agent' }).click()
  await page.getByLabel('Name').fill('while-away')
  const isLost = page.waitForEvent('requestfailed', request => request.method() === 'POST')
  await page.getByRole('dialog').getByRole('button', { name: 'Create agent' }).click()
  await isLost
  await page.getByText('This page goes on by itself').waitFor()
  const second = await buildApp({ environment, dataDirectory })
  await second.service.app.listen({ host: '127.0.0.1', port: Number(new URL(address).port) })
  await page.getByText('This page goes on by itself').waitFor({ state: 'detached' })
  await page.getByRole('dialog').getByRole('button', { name: 'Create agent' }).click()
  await page.getByRole('link', { name: 'while-away' }).waitFor()
  await second.close()
})

it('a first load that is refused for too many requests says when it goes on', async () => {
  const busy = await buildApp({ environment: { DEV_USER: 'ada@example.com', RATE_LIMIT_GENERAL: '2' } })
  onTestFinished(() => busy.close())
  const page = await browser.open(await busy.listen(), { expected: /429/ })
  await page.getByRole('status').getByText('takes no more requests for the moment').waitFor()
})

it('German, compact and the dark theme are kept', async () => {
  const page = await browser.open(origin, { language: 'de-DE' })
  await heading(page, 'Übersicht')
  await page.getByRole('button', { name: 'Darstellung' }).click()
  await page.getByRole('menuitemcheckbox', { name: 'Dunkel' }).click()
  await page.getByRole('button', { name: 'Darstellung' }).click()
  await page.getByRole('menuitemcheckbox', { name: 'English' }).click()
  await heading(page, 'Overview')
  await page.reload()
  await heading(page, 'Overview')
  expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
  expect(await page.evaluate('document.documentElement.lang')).toBe('en')
})

it('names of agents run nothing and are shown as they are', async () => {
  const id = await makeAgent(app)
  const description = '<img src=x onerror=alert(1)>"\'><script>fetch("https://evil.example")</script>'
  await app.call('PUT', `/api/agents/${id}`, { body: { description } })
  const page = await browser.open(origin, { path: '/a/default/agents' })
  await page.getByText(description).waitFor()
})

it('what changes elsewhere shows in every tab, of which one holds the stream', async () => {
  const id = await makeAgent(app)
  const page = await browser.open(origin, { path: `/a/${id}/home` })
  const tabs = [page]
  const streams: string[] = []
  page.context().on('request', request => {
    if (request.url().endsWith('/events')) streams.push(request.url())
  })
  while (tabs.length < 8) {
    const tab = await page.context().newPage()
    await tab.goto(page.url())
    tabs.push(tab)
  }
  const count = (tab: Page, of: string) => tab.locator('dl div').filter({ hasText: of }).locator('dd')
  const contacts = (tab: Page) => count(tab, 'Contacts')
  for (const tab of tabs) await contacts(tab).getByText('0').waitFor()
  await app.call('POST', `/api/agents/${id}/contacts`, { body: { name: 'Ada' } })
  for (const tab of tabs) await contacts(tab).getByText('1').waitFor()
  expect(streams.length).toBeLessThanOrEqual(1)
  const source = { type: 'database', name: 'one', query: 'SELECT 1 AS one' }
  await app.call('POST', `/api/agents/${id}/sources`, { body: source })
  for (const tab of tabs) await count(tab, 'Documents').getByText('1').waitFor()
  await page.close()
  await app.call('POST', `/api/agents/${id}/contacts`, { body: { name: 'Grace' } })
  for (const tab of tabs.slice(1)) await contacts(tab).getByText('2').waitFor()
})

it('a tour of all views sends at most 60 requests: a person takes a minute for it', async () => {
  const id = await makeAgent(app)
  const page = await browser.open(origin, { path: '/a/default/agents' })
  const sent: string[] = []
  const underWay = new Set<Request>()
  page.on('request', request => {
    const { pathname } = new URL(request.url())
    if (!pathname.startsWith('/api/')) return
    sent.push(pathname)
    // The stream of changes does not end.
    if (!pathname.endsWith('/events')) underWay.add(request)
  })
  page.on('requestfinished', request => underWay.delete(request))
  page.on('requestfailed', request => underWay.delete(request))
  await page.goto(`${origin}/a/${id}/home`)
  const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link')
  await links.first().waitFor()
  const names = await links.allInnerTexts()
  for (const name of names) {
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name, exact: true }).click()
    await heading(page, name)
    await expect.poll(() => underWay.size).toBe(0)
  }
  expect(names.length).toBeGreaterThan(12)
  expect(sent.length, sent.join(' ')).toBeLessThanOrEqual(60)
})

it('what changes before the stream is open shows, by reading once more', async () => {
  const id = await makeAgent(app)
  const page = await browser.open(origin, { path: '/a/default/agents' })
  const isHeld = Promise.withResolvers<void>()
  const isFree = Promise.withResolvers<void>()
  await page.route(`**/api/agents/${id}/events`, async route => {
    isHeld.resolve()
    await isFree.promise
    await route.continue()
  })
  const isRead = page.waitForResponse(response => /\/tools\?/.test(response.url()))
  await page.goto(`${origin}/a/${id}/tools`)
  await Promise.all([isRead, isHeld.promise])
  const tool = { name: 'made_meanwhile', type: 'javascript', configuration: { code: 'return 1' } }
  expect((await app.call('POST', `/api/agents/${id}/tools`, { body: tool })).status).toBe(201)
  isFree.resolve()
  await page.getByText(tool.name).first().waitFor()
})

it('commands lead to what they name, with its query', async () => {
  const page = await browser.open(origin, { path: '/a/default/home' })
  await heading(page, 'Overview')
  for (const [command, path] of [
    ['Create an agent', '/a/default/agents?create=1'],
    ['Crawl a website', '/a/default/knowledge?add=crawl'],
  ] as const) {
    await page.keyboard.press('Control+k')
    await page.keyboard.type(command)
    await page.getByRole('option', { name: command }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('dialog:not(.commands)').waitFor()
    expect(page.url()).toBe(`${origin}${path}`)
    await page.keyboard.press('Escape')
  }
})

it('markup from text, inline scripts and inline styles are refused', async () => {
  const page = await browser.open(origin, {
    path: '/a/default/agents',
    expected: /Content Security Policy|requires 'Trusted/,
  })
  await page.getByRole('table').waitFor()
  const tried = await page.evaluate(`(() => {
    const attempt = run => { try { run(); return 'ran' } catch (error) { return error.name } }
    window.ran = false
    const style = document.createElement('style')
    style.textContent = 'body { display: none }'
    document.head.append(style)
    const script = document.createElement('script')
    return [
      attempt(() => { document.body.innerHTML = '<b>x</b>' }),
      attempt(() => { script.text = 'window.ran = true'; document.head.append(script) }),
      attempt(() => { document.body.setAttribute('onclick', 'window.ran = true') }),
      getComputedStyle(document.body).display,
      window.ran,
    ]
  })()`)
  expect(tried).toEqual(['TypeError', 'TypeError', 'TypeError', 'block', false])
})

it('shows what the role on the agent allows', async () => {
  const gateway = await startGateway()
  onTestFinished(() => gateway.close())
  const behind = await buildApp({ environment: { ...gateway.environment, PUBLIC_ACCESS: 'chat' } })
  onTestFinished(() => behind.close())
  const address = await behind.listen()
  const [owner, reader] = await Promise.all([
    gateway.headers('ada@example.com'),
    gateway.headers('grace@example.com'),
  ])
  const id = await makeAgent(behind, { name: 'shared', headers: owner })
  await giveRole(behind, id, { email: 'grace@example.com', role: 'viewer', headers: owner })

  const read = await browser.open(address, { path: `/a/${id}/agents`, headers: reader })
  await read.getByRole('link', { name: 'shared' }).waitFor()
  await read.getByText('grace@example.com').waitFor()
  expect(await read.getByRole('button', { name: 'Actions for shared' }).count()).toBe(0)
  await read.getByRole('link', { name: 'Overview' }).click()
  await heading(read, 'Overview')
  await read.getByText('Contacts').waitFor()
  expect(await read.getByLabel('Upload a document').count()).toBe(0)

  const visitor = await browser.open(address, { path: '/a/default/agents' })
  await visitor.getByText('Anyone who reaches this port can chat').waitFor()
  await visitor.getByText('Sign in to create agents.').waitFor()
  const lost = await browser.open(address, { path: `/a/${id}/home`, expected: /403/ })
  await lost.getByText('There is no such agent, or you have no access to it.').waitFor()
})
