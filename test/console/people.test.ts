/** Who comes in, and with which rights: people, keys, invitations, sessions and the sign-in, in the real browser. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import {
  type ConsoleBrowser,
  expectAccessible,
  findViolations,
  startConsoleBrowser,
  tabTo,
} from './console-browser.ts'

let browser: ConsoleBrowser
/** Everyone here is Ada. */
let app: TestApp
let origin: string
/** People come here by links. */
let open: TestApp
let openOrigin: string

beforeAll(async () => {
  browser = await startConsoleBrowser()
  app = await buildApp({ environment: { DEV_USER: 'ada@example.com' } })
  open = await buildApp()
  origin = await app.listen()
  openOrigin = await open.listen()
})

afterAll(async () => {
  await browser.close()
  await app.close()
  await open.close()
})

describe('people and keys', () => {
  it('are free of violations', async () => {
    const id = await makeAgent(app)
    const page = await browser.open(origin, { path: `/a/${id}/people` })
    await expectAccessible(page, () => page.getByRole('table').waitFor())
    await page.getByText('not signed in, do not reach it.').waitFor()
    await page.goto(`${origin}/a/default/people`)
    await page.getByText('not signed in, may read, chat and change it.').waitFor()
    for (const [path, content] of [
      ['people?tab=invitations', 'No open invitations'],
      ['people?tab=keys', 'No keys yet'],
      ['account', 'No keys yet'],
      ['account?tab=sessions', 'No sessions'],
    ] as const) {
      await page.goto(`${origin}/a/${id}/${path}`)
      await page.getByText(content).waitFor()
      expect(await findViolations(page), path).toEqual([])
    }
  })

  it('by keyboard alone: a person is given the role chat, and loses it', async () => {
    const id = await makeAgent(app)
    const page = await browser.open(origin, { path: `/a/${id}/people`, expected: /409/ })
    await page.getByRole('table').waitFor()
    // Behind a dialog, nothing takes the focus.
    const closed = () => page.getByRole('dialog').waitFor({ state: 'hidden' })
    const give = async (email: string) => {
      await tabTo(page, 'button', 'Give a role')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
      await page.keyboard.type(email)
      await tabTo(page, 'combobox', 'Role')
      await page.keyboard.type('Chat')
      await page.keyboard.press('Control+Enter')
    }
    await give('grace@example.com')
    await page.getByText('grace@example.com is now: Chat.').waitFor()
    const row = page.getByRole('row').filter({ hasText: 'grace@example.com' })
    await row.getByText('Chat', { exact: true }).waitFor()
    await row.getByText('not proved').waitFor()
    await closed()
    await give('grace@example.com')
    await page.getByRole('dialog').locator('.error').waitFor()
    expect(await findViolations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await closed()
    await tabTo(page, 'button', 'Actions for grace@example.com')
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Budget' }).press('Enter')
    await page.getByRole('textbox', { name: 'US dollars a month' }).fill('2.5')
    await page.keyboard.press('Control+Enter')
    await row.getByText('$2.50').waitFor()
    await closed()
    await tabTo(page, 'button', 'Actions for grace@example.com')
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Sign out everywhere' }).press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo(page, 'button', 'Sign out everywhere')
    await page.keyboard.press('Enter')
    await page.getByText('All sessions and keys of the person have ended.').waitFor()
    await closed()
    await tabTo(page, 'button', 'Actions for grace@example.com')
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Take the role away' }).press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo(page, 'button', 'Take the role away')
    await page.keyboard.press('Enter')
    await row.waitFor({ state: 'detached' })
  })

  it.each([
    ['of the agent', (id: string) => `/a/${id}/people?tab=keys`],
    ['of the caller', (id: string) => `/a/${id}/account`],
  ])('a key %s is shown once, counts, is replaced and deleted', async (_, pathOf) => {
    const id = await makeAgent(app)
    const name = '<b>CI</b> \u202e"'
    const page = await browser.open(origin, { path: pathOf(id) })
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create key' })
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByLabel('Role').or(dialog.getByLabel('At most')).selectOption('viewer')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    const first = await takeSecret(page)
    const statusOf = async (key: string) => {
      const headers = { authorization: `Bearer ${key}` }
      return (await app.call('GET', `/api/agents/${id}`, { headers })).status
    }
    expect(await statusOf(first)).toBe(200)
    expect(await page.content()).not.toContain(first)
    await page.getByRole('button', { name: `Actions for ${name}` }).click()
    await page.getByRole('menuitem', { name: 'Replace' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click()
    const second = await takeSecret(page)
    expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200])
    await page.getByRole('button', { name: `Actions for ${name}` }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: `Actions for ${name}` }).waitFor({ state: 'detached' })
    expect(await statusOf(second)).toBe(401)
  })
})

/** The secret of the dialog that shows it, which is closed then. */
async function takeSecret(page: Page): Promise<string> {
  const dialog = page.getByRole('dialog', { name: 'New key' })
  await dialog.getByRole('button', { name: 'Copy', exact: true }).click()
  await dialog.getByText('Copied').waitFor()
  const secret = await page.evaluate<string>('navigator.clipboard.readText()')
  expect(await dialog.locator('code').textContent()).toBe(secret)
  await dialog.getByRole('button', { name: 'Done' }).click()
  return secret
}

describe('the sign-in', () => {
  it('says what to do, and is free of violations', async () => {
    const page = await browser.open(openOrigin, { path: '/sign-in' })
    await expectAccessible(page, () => page.getByText('npm run sign-in').waitFor())
  })

  it('by a link leads to what was wanted; the owner invites, the guest accepts once, and each signs out', async () => {
    const link = (await open.service.firstLink(openOrigin)) ?? ''
    const path = link.replace('#', '?return_to=%2Fa%2Fdefault%2Fpeople#').slice(openOrigin.length)
    const page = await browser.open(openOrigin, { path, expected: /403/ })
    await page.waitForURL('**/a/default/people')
    await page.getByRole('complementary').getByText('owner@localhost').waitFor()
    await page.goto(link)
    await page.getByText('used already').waitFor()
    expect(page.url()).not.toContain('token')

    await page.goto(`${openOrigin}/a/default/people?tab=invitations`)
    await page.getByRole('button', { name: 'Invite', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('E-mail address').fill('grace@example.com')
    await dialog.getByRole('button', { name: 'Invite', exact: true }).click()
    const shown = page.getByRole('dialog', { name: 'Invitation for grace@example.com' })
    const invitation = (await shown.locator('code').textContent()) ?? ''
    expect(await findViolations(page)).toEqual([])

    const guest = await browser.open(openOrigin, {
      path: invitation.slice(openOrigin.length),
      expected: /403/,
    })
    await guest.getByRole('button', { name: 'Accept the invitation' }).click()
    await guest.waitForURL('**/a/default/home')
    await guest.getByRole('complementary').getByText('grace@example.com').waitFor()
    await guest.getByRole('button', { name: 'Sign out' }).click()
    await guest.getByText('npm run sign-in').waitFor()
    await guest.goto(invitation)
    await guest.getByRole('button', { name: 'Accept the invitation' }).click()
    await guest.getByText('Ask the person who invited you').waitFor()
    expect(await findViolations(guest)).toEqual([])

    await page.goto(`${openOrigin}/a/default/account?tab=sessions`)
    await page.getByText('this browser').waitFor()
    expect(await findViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.waitForURL('**/sign-in')
    await page.getByText('npm run sign-in').waitFor()
  })

  it('offers the identity provider where there is one, and leads to no other site', async () => {
    const OidcIssuer = 'https://login.example.com/realms/staff'
    const environment = {
      OIDC_ISSUER: OidcIssuer,
      OIDC_CLIENT_ID: 'agentstead',
      OIDC_CLIENT_SECRET: 'secret',
    }
    const there = await buildApp({ environment: { ...environment, BASE_URL: 'https://agents.example' } })
    onTestFinished(() => there.close())
    const address = await there.listen()
    const page = await browser.open(address, { path: '/sign-in?return_to=%2Fa%2Fdefault%2Fchat' })
    const button = page.getByRole('link', { name: 'Sign in at login.example.com' })
    expect(await button.getAttribute('href')).toBe('/api/auth/sign-in?return_to=%2Fa%2Fdefault%2Fchat')
    await page.goto(`${address}/sign-in?return_to=https%3A%2F%2Fevil.example`)
    expect(await button.getAttribute('href')).toBe('/api/auth/sign-in?return_to=%2F')
  })
})
