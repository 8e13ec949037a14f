/** How an agent is set up: settings, channels, webhooks and the audit log, in the real browser on the real service. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { startGateway } from '#test/support/gateway.ts'
import {
  type ConsoleBrowser,
  expectAccessible,
  findViolations,
  startConsoleBrowser,
  tabTo,
} from './console-browser.ts'

const hostile = '<img src=x onerror=alert(1)></script><script>fetch("https://evil.example")</script>\u202e'

let browser: ConsoleBrowser
let app: TestApp
let origin: string

beforeAll(async () => {
  browser = await startConsoleBrowser()
  app = await buildApp({ environment: { DEV_USER: 'ada@example.com', OUTBOUND_ALLOW: '127.0.0.1' } })
  origin = await app.listen()
})

afterAll(async () => {
  await browser.close()
  await app.close()
})

interface Settings {
  settings: Record<string, unknown>
  credentials: Record<string, boolean>
}

const settingsOf = async (id: string) => (await app.call<Settings>('GET', `/api/agents/${id}/settings`)).body
const change = (id: string, body: object) => app.call('PUT', `/api/agents/${id}/settings`, { body })
const saved = (page: Page) => page.getByText('Saved.').first().waitFor()

describe('settings', () => {
  it('are free of violations in every tab', async () => {
    const id = await makeAgent(app)
    await change(id, { llm_provider: 'openai-compatible', smtp_url: 'smtps://mail.example.com' })
    const page = await browser.open(origin, { path: `/a/${id}/settings` })
    await expectAccessible(page, () => page.getByLabel('Base address').waitFor())
    await page.setViewportSize({ width: 390, height: 900 })
    for (const [tab, content] of [
      ['instructions', 'System prompt'],
      ['credentials', 'Mail server'],
      ['more', 'Browser profile'],
      ['danger', 'Delete this agent'],
    ] as const) {
      await page.goto(`${origin}/a/${id}/settings?tab=${tab}`)
      await page.getByRole('tabpanel').getByText(content).first().waitFor()
      expect(await findViolations(page), tab).toEqual([])
    }
  })

  it('a model is chosen from the overview, with a key that is never shown again', async () => {
    const id = await makeAgent(app)
    const page = await browser.open(origin, { path: `/a/${id}/home`, expected: /400/ })
    await page.getByRole('link', { name: 'Choose a model' }).click()
    await page.getByLabel('Provider').selectOption('openai-compatible')
    await page.getByLabel('Base address').fill('ftp://models.example')
    await page.getByLabel('Model', { exact: false }).last().fill('small')
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .getByText(/llm_base_url|http/)
      .last()
      .waitFor()
    await page.getByLabel('Base address').fill('https://models.example/v1')
    await page.getByLabel('Key of the compatible server').fill('sk-secret-4711')
    await page.getByRole('button', { name: 'Save' }).click()
    await saved(page)
    await page.getByText('key set', { exact: true }).waitFor()
    await expect.poll(() => page.getByLabel('Key of the compatible server').inputValue()).toBe('')
    expect(await settingsOf(id)).toMatchObject({
      settings: {
        llm_provider: 'openai-compatible',
        llm_model: 'small',
        llm_base_url: 'https://models.example/v1',
      },
      credentials: { openai_compatible_api_key: true },
    })
    expect(await page.content()).not.toContain('sk-secret-4711')
  })

  it('a form changes what the person changed, and empties what they emptied', async () => {
    const id = await makeAgent(app)
    await change(id, { conversations_max: 7, phone_country: 'DE' })
    const page = await browser.open(origin, { path: `/a/${id}/settings?tab=more` })
    const section = page.getByRole('region', { name: 'Conversations and contacts' })
    await section.getByLabel('Conversations to keep').waitFor()
    await change(id, { conversations_max: 9 })
    await section.getByLabel('Country of phone numbers').fill('')
    await section.getByLabel('Amount').fill('90')
    await section.getByLabel('Unit').selectOption('minutes')
    await section.getByRole('button', { name: 'Save' }).click()
    await saved(page)
    const { settings } = await settingsOf(id)
    expect(settings).toMatchObject({ conversations_max: 9, approval_timeout: 5400 })
    expect(settings).not.toHaveProperty('phone_country')
  })

  it('what the model may do is set, hosts one per line', async () => {
    const id = await makeAgent(app)
    await change(id, { builtin_tools: { browse_url: { enabled: false } } })
    const page = await browser.open(origin, { path: `/a/${id}/settings?tab=more`, expected: /400/ })
    const section = page.getByRole('region', { name: 'What the model may do' })
    await section.getByLabel('Hosts that it may send to').fill('example.com\nhttps://wrong')
    await section.getByRole('button', { name: 'Save' }).click()
    await section.getByText(/browse_hosts/).waitFor()
    await section.getByLabel('Hosts that it may send to').fill('example.com\n*.example.org')
    expect(await section.getByLabel('Built-in tools').inputValue()).toContain('"enabled": false')
    await section.getByRole('button', { name: 'Save' }).click()
    await saved(page)
    const { settings } = await settingsOf(id)
    expect(settings).toMatchObject({
      browse_hosts: ['example.com', '*.example.org'],
      builtin_tools: { browse_url: {} },
    })
  })

  it('a contact is found who is notified, and is notified no more', async () => {
    const id = await makeAgent(app)
    for (const name of ['Ann', 'Bo'])
      await app.call('POST', `/api/agents/${id}/contacts`, { body: { name, email: `${name}@example.com` } })
    const page = await browser.open(origin, { path: `/a/${id}/settings?tab=more` })
    const section = page.getByRole('region', { name: 'Notices' })
    await section.getByRole('combobox', { name: 'Find a contact' }).fill('bo@')
    await section.getByRole('option', { name: 'Bo' }).click()
    await section.getByText('E-mail: Bo').waitFor()
    expect(await settingsOf(id)).toMatchObject({ settings: { notify: { email: expect.any(String) } } })
    await section.getByRole('button', { name: 'Notify nobody' }).click()
    await section.getByText('Nobody', { exact: true }).waitFor()
    expect((await settingsOf(id)).settings).not.toHaveProperty('notify')
  })

  it('by keyboard alone: instructions are written, a credential is set, the agent is deleted', async () => {
    const name = `doomed-${Date.now()}`
    const id = await makeAgent(app, { name })
    // The change stream has the settings of the deleted agent fetched once more.
    const page = await browser.open(origin, { path: `/a/${id}/settings`, expected: /404/ })
    await page.getByLabel('Provider').waitFor()
    await tabTo(page, 'tab', 'Model')
    await page.keyboard.press('ArrowRight')
    await tabTo(page, 'textbox', /^System prompt/)
    await page.keyboard.type(hostile)
    await page.keyboard.press('Control+Enter')
    await saved(page)
    expect(await settingsOf(id)).toMatchObject({ settings: { system_prompt: hostile } })
    await page.goto(`${origin}/a/${id}/settings?tab=credentials`)
    await page.getByRole('table').waitFor()
    await tabTo(page, 'button', 'Set “Telegram bot token”')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type('123:abc')
    await page.keyboard.press('Enter')
    await page.getByText('“Telegram bot token” is set.').waitFor()
    expect(await settingsOf(id)).toMatchObject({ credentials: { telegram_bot_token: true } })
    await tabTo(page, 'tab', 'Credentials')
    await page.keyboard.press('End')
    await tabTo(page, 'button', 'Delete this agent')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type(name)
    await tabTo(page, 'button', 'Delete this agent')
    await page.keyboard.press('Enter')
    await page.getByText(`“${name}” was deleted.`).waitFor()
    expect((await app.call('GET', `/api/agents/${id}`)).status).toBe(404)
  })
})

describe('channels', () => {
  it('say step by step how they are connected, with addresses to copy and errors in words', async () => {
    const id = await makeAgent(app)
    const page = await browser.open(origin, { path: `/a/${id}/channels`, expected: /40\d|50\d/ })
    await expectAccessible(page, () => page.getByRole('region', { name: 'WhatsApp' }).waitFor())
    await page.setViewportSize({ width: 1440, height: 900 })
    const whatsapp = page.getByRole('region', { name: 'WhatsApp' })
    await whatsapp.getByRole('button', { name: 'Copy', exact: true }).click()
    await page.getByText('Copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `${origin}/api/agents/${id}/channels/whatsapp/webhook`,
    )
    const telegram = page.getByRole('region', { name: 'Telegram' })
    await telegram.getByLabel('Bot token').fill('123:abc')
    await telegram.getByRole('button', { name: 'Save' }).click()
    await telegram.getByRole('button', { name: 'Connect' }).click()
    await telegram.getByText('set BASE_URL of the service to one').waitFor()
    const mail = page.getByRole('region', { name: 'Mail' })
    await mail.getByLabel('Sender').fill('not an address')
    await mail.getByRole('button', { name: 'Save' }).click()
    await mail.locator('.error').waitFor()
  })
})

/** Answers webhooks with a status and a text. */
async function receiver(answer: { status: number; text: string }): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(answer.status).end(answer.text))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('webhooks', () => {
  it('are made, tested, retried and deleted; what receivers answer is text', async () => {
    const id = await makeAgent(app)
    const answer = { status: 500, text: hostile }
    const url = await receiver(answer)
    const page = await browser.open(origin, { path: `/a/${id}/webhooks`, expected: /400/ })
    await page.getByRole('button', { name: 'Add webhook' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add webhook' })
    await dialog.getByLabel('Address').fill('not-an-address')
    await dialog.getByRole('button', { name: 'Add webhook' }).click()
    await dialog.locator('.error').waitFor()
    await dialog.getByLabel('Address').fill(url)
    await dialog.getByRole('button', { name: 'Add webhook' }).click()
    const shown = page.getByRole('dialog', { name: 'Secret of the webhook' })
    await shown.getByText(/^whsec_/).waitFor()
    await shown.getByRole('button', { name: 'Done' }).click()
    await expectAccessible(page, () => page.getByRole('table').waitFor())
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.getByRole('link', { name: url }).click()
    await page.getByRole('button', { name: 'Send a test' }).click()
    const row = page.getByRole('row').filter({ hasText: 'webhook.test' })
    await row.getByText('failed').waitFor()
    await row.getByRole('button').click()
    await page.getByRole('region', { name: 'webhook.test' }).getByText(hostile).waitFor()
    await expectAccessible(page, () => page.getByRole('region', { name: 'webhook.test' }).waitFor())
    await page.setViewportSize({ width: 1440, height: 900 })
    answer.status = 200
    await page.getByRole('button', { name: 'Send again' }).click()
    await row.getByText('succeeded').waitFor()
    await page.getByRole('button', { name: 'All', exact: true }).waitFor()
    await page.getByRole('button', { name: `Actions for ${url}` }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No webhooks yet').waitFor()
  })
})

describe('the audit log', () => {
  it('is filtered in the address, shows each change, and is downloaded as it is filtered', async () => {
    const id = await makeAgent(app)
    await change(id, { system_prompt: hostile })
    await app.call('POST', `/api/agents/${id}/contacts`, { body: { name: hostile } })
    const page = await browser.open(origin, { path: `/a/${id}/audit` })
    await expectAccessible(page, () => page.getByRole('table').waitFor())
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.getByLabel('Operation').fill('updateSettings')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText('1 change', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'updateSettings' }).click()
    const panel = page.getByRole('region', { name: 'updateSettings' })
    await panel.getByText('onerror=alert').waitFor()
    expect(await findViolations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download NDJSON' }).click(),
    ])
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n')
    expect(lines.map(line => JSON.parse(line).operation)).toEqual(['updateSettings'])
  })
})

it('viewers read, and a person with the role chat sees chat alone', async () => {
  const gateway = await startGateway()
  onTestFinished(() => gateway.close())
  const behind = await buildApp({ environment: gateway.environment })
  onTestFinished(() => behind.close())
  const address = await behind.listen()
  const owner = await gateway.headers('ada@example.com')
  const id = await makeAgent(behind, { headers: owner })
  await giveRole(behind, id, { email: 'grace@example.com', role: 'viewer', headers: owner })
  await giveRole(behind, id, { email: 'carl@example.com', role: 'chat', headers: owner })
  const body = { url: 'https://example.com/events', events: ['*'] }
  await behind.call('POST', `/api/agents/${id}/webhooks`, { headers: owner, body })

  const page = await browser.open(address, {
    path: `/a/${id}/settings`,
    headers: await gateway.headers('grace@example.com'),
  })
  const controls = page.getByRole('main').locator('form, input, select, textarea, button:not([role=tab])')
  for (const [path, content] of [
    ['settings', 'Provider'],
    ['settings?tab=instructions', 'System prompt'],
    ['settings?tab=credentials', 'OpenAI key'],
    ['settings?tab=more', 'Browser profile'],
    ['settings?tab=danger', 'Provider'],
    ['channels', 'Telegram'],
    ['webhooks', 'https://example.com/events'],
    ['people', 'grace@example.com'],
  ] as const) {
    await page.goto(`${address}/a/${id}/${path}`)
    await page.getByRole('main').getByText(content, { exact: false }).first().waitFor()
    expect(await controls.count(), path).toBe(0)
  }
  await page.goto(`${address}/a/${id}/audit`)
  await page.getByText('This view needs the role “admin”').waitFor()

  const chatter = await browser.open(address, {
    path: `/a/${id}/settings`,
    headers: await gateway.headers('carl@example.com'),
  })
  await chatter.getByText('This view needs the role “viewer”').waitFor()
  const links = await chatter.getByRole('navigation').getByRole('link').allTextContents()
  expect(links.filter(link => link !== 'Chat')).toEqual([])
})
