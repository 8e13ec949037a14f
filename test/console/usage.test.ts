/** What an agent has used of models and what it may, in the real browser on the real service. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { buildApp } from '#test/support/build-app.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { startGateway } from '#test/support/gateway.ts'
import { type ConsoleBrowser, expectAccessible, startConsoleBrowser, tabTo } from './console-browser.ts'

let browser: ConsoleBrowser
let stage: ChatStage
let origin: string

beforeAll(async () => {
  browser = await startConsoleBrowser()
  stage = await setChatStage()
  origin = await stage.app.listen()
})

afterAll(async () => {
  await browser.close()
  await stage[Symbol.asyncDispose]()
})

it('usage of the month is shown by day, model, person and key, with the budget and what is left of it', async () => {
  const chat = await stage.makeChat()
  const home = `/a/${/agents\/([^/]+)/.exec(chat)?.[1]}`
  const page = await browser.open(origin, { path: `${home}/usage`, expected: /429/ })
  await page.getByText('Nothing used this month').waitFor()
  await page.getByText('No budget of its own').waitFor()
  await stage.send(chat, { content: 'Hello?' })
  await page.goto(`${origin}${home}/settings?tab=more`)
  await page.getByLabel('Tokens a month').fill('1000000')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Saved.').waitFor()
  await page.goto(`${origin}${home}/usage`)
  await page.getByText(/of 1,000,000, 99\d,\d{3} left/).waitFor()
  const rows = page.getByRole('row')
  await rows.getByText(/^\d{4}-\d\d-\d\d$/).waitFor()
  await expectAccessible(page, () => page.getByText(/of 1,000,000/).waitFor())
  await page.setViewportSize({ width: 1440, height: 900 })
  await tabTo(page, 'tab', 'By day')
  for (const shown of ['fake-model', 'dev@example.com', 'without a key']) {
    await page.keyboard.press('ArrowRight')
    await rows.getByText(shown).first().waitFor()
  }

  await stage.app.call('PUT', chat.replace(/chat$/, 'settings'), { body: { monthly_tokens: 1 } })
  await page.goto(`${origin}${home}/usage`)
  await page.getByText('1 spent: nothing is answered until the next month begins.').waitFor()
  await page.goto(`${origin}${home}/chat`)
  await page.getByRole('textbox', { name: 'Message' }).fill('And now?')
  await page.keyboard.press('Enter')
  await page.locator('.failure').getByText('The budget of this agent for this month is spent.').waitFor()
  await page.getByRole('link', { name: 'See usage and budget' }).click()
  await page.getByText('1 spent: nothing is answered').waitFor()
})

it('usage is for those who may change the agent', async () => {
  const gateway = await startGateway()
  onTestFinished(() => gateway.close())
  const app = await buildApp({ environment: gateway.environment })
  onTestFinished(() => app.close())
  const address = await app.listen()
  const owner = await gateway.headers('ada@example.com')
  const viewer = await gateway.headers('vera@example.com')
  const id = await makeAgent(app, { headers: owner })
  await giveRole(app, id, { email: 'vera@example.com', role: 'viewer', headers: owner })
  const page = await browser.open(address, { path: `/a/${id}/home`, headers: viewer })
  await page
    .getByRole('link', { name: 'Audit log' })
    .or(page.getByRole('link', { name: 'Settings' }))
    .first()
    .waitFor()
  expect(await page.getByRole('link', { name: 'Usage' }).count()).toBe(0)
})
